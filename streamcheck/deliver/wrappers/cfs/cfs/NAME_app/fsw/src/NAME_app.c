/* A cFS application with the monitor {{name}}: one step for each message with inputs; each handler sends an event. */
% require abi context
% require form functions
#include "{{name}}_app.h"

static {{name}}_state {{upper}}_State;
static CFE_SB_PipeId_t {{upper}}_Pipe;

% for handler in handlers
/* {{handler.source}} */
{{handler.prototype}}
{
    CFE_EVS_SendEvent({{upper}}_{{handler.c}}_EID, CFE_EVS_EventType_ERROR, "{{handler.name}} {{handler.format}}"{{handler.shown}});
}

% end
void {{upper}}_Process(const CFE_SB_Buffer_t *Buffer)
{
    CFE_MSG_Size_t Size = 0;

    CFE_MSG_GetSize(&Buffer->Msg, &Size);
    if (Size != sizeof({{upper}}_InputsMsg_t)) {
        CFE_EVS_SendEvent({{upper}}_LENGTH_ERR_EID, CFE_EVS_EventType_ERROR, "a message of %lu bytes", (unsigned long)Size);
        return;
    }
% if inputs
    {{step}}(&{{upper}}_State, &((const {{upper}}_InputsMsg_t *)Buffer)->Inputs);
% else
    {{step}}(&{{upper}}_State);
% end
}

void {{upper}}_AppMain(void)
{
    uint32 Status = CFE_ES_RunStatus_APP_RUN;
    CFE_SB_Buffer_t *Buffer;

    {{name}}_init(&{{upper}}_State);
    if (CFE_EVS_Register(NULL, 0, CFE_EVS_EventFilter_BINARY) != CFE_SUCCESS
        || CFE_SB_CreatePipe(&{{upper}}_Pipe, {{upper}}_PIPE_DEPTH, "{{upper}}_PIPE") != CFE_SUCCESS
        || CFE_SB_Subscribe({{upper}}_INPUTS_MID, {{upper}}_Pipe) != CFE_SUCCESS) {
        Status = CFE_ES_RunStatus_APP_ERROR;
    }
    while (CFE_ES_RunLoop(&Status)) {
        if (CFE_SB_ReceiveBuffer(&Buffer, {{upper}}_Pipe, CFE_SB_PEND_FOREVER) == CFE_SUCCESS) {
            {{upper}}_Process(Buffer);
        } else {
            CFE_EVS_SendEvent({{upper}}_PIPE_ERR_EID, CFE_EVS_EventType_ERROR, "no message from the pipe");
            Status = CFE_ES_RunStatus_APP_ERROR;
        }
    }
    CFE_ES_ExitApp(Status);
}
