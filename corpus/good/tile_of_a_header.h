#pragma once

namespace tile {
constexpr int kColumns = 64;
constexpr int kRows = 64;
}
