/* The application of the monitor {{name}}. */
#ifndef {{upper}}_APP_H
#define {{upper}}_APP_H

#include "cfe.h"
#include "{{name}}.h"

#define {{upper}}_INPUTS_MID CFE_SB_ValueToMsgId(0x1890) /* choose one of your mission's */
#define {{upper}}_PIPE_DEPTH 16

enum {
% for handler in handlers
    {{upper}}_{{handler.c}}_EID,
% end
    {{upper}}_PIPE_ERR_EID,
    {{upper}}_LENGTH_ERR_EID
};

% if inputs
/* the message with the inputs of one step */
typedef struct {
    CFE_MSG_CommandHeader_t Header;
    {{name}}_inputs Inputs;
} {{upper}}_InputsMsg_t;
% else
/* the message that asks for one step */
typedef struct {
    CFE_MSG_CommandHeader_t Header;
} {{upper}}_InputsMsg_t;
% end

void {{upper}}_AppMain(void);
void {{upper}}_Process(const CFE_SB_Buffer_t *Buffer);

#endif
