#pragma once
#include <filesystem>
#include <vector>
#include "tapehead/train/run_directory.h"
namespace tapehead { inline std::vector<std::filesystem::path> draw_figures(const RunDirectory&) { return {}; } }
