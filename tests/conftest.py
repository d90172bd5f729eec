import os
import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# At a desk every run draws new examples; where a run decides over a change, the same change has the same answer.
settings.register_profile("same examples every time", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("same examples every time")

# Tests ask engines, not what an earlier test has left behind. Those of the cache name a folder of their own.
os.environ["STREAMCHECK_NO_CACHE"] = "1"
