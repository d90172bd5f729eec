"""Many specs, many machines: what runs next, where, and what is left of it after a crash.

policy    the next piece of work and its budget: no clock, no process; suites, crews and simulations run it
units     a piece of work as a message, and its answer
host      the process beside a worker that runs solvers and ends them in time
work      what an executor calls
pools     places where units run: any executor, or Dask (`dask_pool`)
broker    the policy, over a pool: budgets, leases, what is lost begins again
crew      the workers of one proof, as the director sees them
suite     many specs: processes, journal, history
"""
