#include "tapehead/nn/norm.h"

#include <vector>

#include "support/modules.h"

namespace tapehead {

TEST_CASE("a norm is the one that the config names, or nothing without parameters") {
  const Variable x(testing::random_tensor({2, 3, 8}, 1));
  const auto normed = [&](NormKind kind, const char* parameters_there) {
    ModelConfig config = testing::kEverything;
    config.norm = kind;
    Parameters parameters;
    const Norm norm(Scope(parameters) / "norm", config);
    CHECK(testing::listing_of(parameters) == parameters_there);
    parameters.initialise(1);
    return norm(Pass(), x).value();
  };
  CHECK(testing::same_bits(normed(NormKind::none, ""), x.value()));
  Parameters parameters;
  const LayerNorm layer(Scope(parameters) / "layer", 8, true);
  const RmsNorm rms(Scope(parameters) / "rms", 8);
  parameters.initialise(1);
  CHECK(testing::same_bits(normed(NormKind::layer, "norm.gain (8) 8\nnorm.bias (8) 8\n"),
                           layer(Pass(), x).value()));
  CHECK(testing::same_bits(normed(NormKind::rms, "norm.gain (8) 8\n"), rms(Pass(), x).value()));
}

TEST_CASE("a norm's factor is that of its kind, and 1 for none") {
  const std::vector<Real> row{1, 2, 4, 9};
  CHECK(Norm::scale_of(NormKind::none, row) == 1);
  CHECK(Norm::scale_of(NormKind::layer, row) == LayerNorm::scale_of(row));
  CHECK(Norm::scale_of(NormKind::rms, row) == RmsNorm::scale_of(row));
}

}  // namespace tapehead
