// A node with the monitor {{name}}: one step for each message on ~/inputs; each handler publishes a message.
% require nested_arrays false
% require abi context
% require form context
#include <memory>

#include <rclcpp/rclcpp.hpp>

#include "{{name}}.h"
#include "{{snake}}_monitor/msg/inputs.hpp"
% for handler in handlers
#include "{{snake}}_monitor/msg/{{handler.snake}}.hpp"
% end

namespace messages = {{snake}}_monitor::msg;

class {{camel}}Node : public rclcpp::Node {
public:
    {{camel}}Node() : Node("{{snake}}_monitor")
    {
        {{name}}_init(&state_, this);
% for handler in handlers
        {{handler.snake}}_ = create_publisher<messages::{{handler.camel}}>("~/{{handler.snake}}", 10);
% end
        subscription_ = create_subscription<messages::Inputs>(
            "~/inputs", 10, [this](const messages::Inputs &message) { step(message); });
    }

    void step(const messages::Inputs &message)
    {
% if inputs
        {{name}}_inputs inputs;
% for input in inputs
% for leaf in input.leaves
        inputs.{{leaf.path}} = message.{{leaf.ros_path}};
% end
% end
        {{step}}(&state_, &inputs);
% else
        (void)message;
        {{step}}(&state_);
% end
    }

% for handler in handlers
    rclcpp::Publisher<messages::{{handler.camel}}>::SharedPtr {{handler.snake}}_;
% end

private:
    {{name}}_state state_;
    rclcpp::Subscription<messages::Inputs>::SharedPtr subscription_;
};

extern "C" {
% for handler in handlers

// {{handler.source}}
{{handler.prototype}}
{
    messages::{{handler.camel}} sc_message;
% for leaf in handler.leaves
    sc_message.{{leaf.ros_path}} = {{leaf.value}};
% end
    static_cast<{{camel}}Node *>(user)->{{handler.snake}}_->publish(sc_message);
}
% end

} // extern "C"

int main(int argc, char **argv)
{
    rclcpp::init(argc, argv);
    rclcpp::spin(std::make_shared<{{camel}}Node>());
    rclcpp::shutdown();
    return 0;
}
