#pragma once

namespace tile {
constexpr int kColumns = 128;
constexpr int kRows = 64;
}
