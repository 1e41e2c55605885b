#include "tapehead/nn/recurrent.h"

#include "support/modules.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/recurrence.h"

namespace tapehead {

using testing::random_tensor;

TEST_CASE("a recurrent layer registers what it reads and what it hands on") {
  Parameters parameters;
  const Recurrent layer(Scope(parameters, "part"), 3, 4);
  CHECK(testing::listing_of(parameters) ==
        "part.input.weight (4, 3) 12\n"
        "part.input.bias (4) 4\n"
        "part.state (4, 4) 16\n");
  CHECK(parameters.entries()[2].start.deviation == 0.5);
}

TEST_CASE("a recurrent layer is the recurrence of a linear layer's outputs") {
  Parameters parameters;
  const Recurrent layer(Scope(parameters), 3, 4);
  parameters.initialise(1);
  for (Real& value : parameters.change()) value += Real(0.1);  // a bias that is not 0
  const Variable x(random_tensor({2, 5, 3}, 1));
  const Variable read =
      linear(x, constant(parameters.find("input.weight")), constant(parameters.find("input.bias")));
  testing::check_close(layer(Pass(), x).value(), recurrence(read, constant(parameters.find("state"))).value(),
                       0);
}

}  // namespace tapehead
