#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tensor/tensor.h"

namespace dragoman::test_support {

/// While alive, lets a processor without AMX run AMX instructions by a handler of SIGILL, so that the
/// assembly itself runs, encoded as it is: configuration, tile registers, strides, order of operands. Slow. Of one
/// thread. Decoded and computed as in Intel's "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2:
/// LDTILECFG, TILERELEASE, TILEZERO, TILELOADD, TILESTORED, TDPBF16PS, TDPBSSD. Everything else is an illegal
/// instruction as before, and so are tiles that are used before they are configured or beyond what was configured.
class TileTrap {
 public:
  TileTrap() {
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, &before_);
  }
  ~TileTrap() { sigaction(SIGILL, &before_, nullptr); }
  TileTrap(const TileTrap&) = delete;
  TileTrap& operator=(const TileTrap&) = delete;

  /// Instructions carried out in this thread so far.
  static int64_t count() { return state().count; }

 private:
  static constexpr int kTiles = 8, kRows = 16, kRowBytes = 64;

  struct Configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  };
  static_assert(sizeof(Configuration) == 64);

  struct State {
    Configuration configuration = {};
    uint8_t tiles[kTiles][kRows][kRowBytes] = {};
    int64_t count = 0;
  };
  static State& state() {
    static thread_local State state;
    return state;
  }

  // VEX in three bytes, opcode, ModRM and what follows.
  struct Instruction {
    enum Prefix { kNone, k66, kF3, kF2 };
    Prefix prefix;
    uint8_t opcode;
    int mod, reg, rm, vvvv;
    const uint8_t* address;  // of memory operands: base, index << scale and displacement added
    int64_t stride;          // index << scale, in bytes
    int size;
  };

  static uint64_t register_value(const ucontext_t& context, int number) {
    constexpr int kOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return static_cast<uint64_t>(context.uc_mcontext.gregs[kOrder[number]]);
  }

  // Whether the bytes are VEX.128.0F38.W0, which all of these instructions are.
  static bool decode(const ucontext_t& context, Instruction& found) {
    const auto* code = reinterpret_cast<const uint8_t*>(context.uc_mcontext.gregs[REG_RIP]);
    if (code[0] != 0xC4 || (code[1] & 0x1F) != 2 || (code[2] & 0x84) != 0) {
      return false;
    }
    const int r = (code[1] & 0x80) != 0 ? 0 : 8, x = (code[1] & 0x40) != 0 ? 0 : 8, b = (code[1] & 0x20) != 0 ? 0 : 8;
    found = {static_cast<Instruction::Prefix>(code[2] & 3),
             code[3],
             code[4] >> 6,
             ((code[4] >> 3) & 7) + r,
             (code[4] & 7) + b,
             (~code[2] >> 3) & 15,
             nullptr,
             0,
             5};
    if (found.mod != 3) {
      locate(context, code, x, b, found);
    }
    return true;
  }

  static void locate(const ucontext_t& context, const uint8_t* code, int x, int b, Instruction& found) {
    const bool has_index_byte = (found.rm & 7) == 4;
    uint64_t base = 0, index = 0;
    int displacement_bytes = found.mod == 1 ? 1 : found.mod == 2 ? 4 : 0;
    int base_number = found.rm;
    bool relative = false;
    if (has_index_byte) {
      const uint8_t sib = code[found.size++];
      const int index_number = ((sib >> 3) & 7) + x;
      index = index_number == 4 ? 0 : register_value(context, index_number) << (sib >> 6);
      base_number = (sib & 7) + b;
    }
    if (found.mod == 0 && (base_number & 7) == 5) {  // no base register: absolute, or relative to what follows
      displacement_bytes = 4;
      relative = !has_index_byte;
    } else {
      base = register_value(context, base_number);
    }
    int32_t displacement = 0;
    if (displacement_bytes == 1) {
      displacement = static_cast<int8_t>(code[found.size]);
    } else if (displacement_bytes == 4) {
      std::memcpy(&displacement, code + found.size, 4);
    }
    found.size += displacement_bytes;
    if (relative) {
      base = reinterpret_cast<uint64_t>(code) + static_cast<uint64_t>(found.size);
    }
    found.stride = static_cast<int64_t>(index);
    found.address = reinterpret_cast<const uint8_t*>(base + index + static_cast<uint64_t>(int64_t{displacement}));
  }

  static bool is_configured(int tile) {
    const Configuration& known = state().configuration;
    return tile < kTiles && known.palette == 1 && known.rows[tile] > 0 && known.row_bytes[tile] > 0;
  }

  static bool configure(const uint8_t* from) {
    Configuration next;
    std::memcpy(&next, from, sizeof next);
    for (int tile = 0; tile < 16; ++tile) {
      const bool inside = tile < kTiles ? next.rows[tile] <= kRows && next.row_bytes[tile] <= kRowBytes
                                        : next.rows[tile] == 0 && next.row_bytes[tile] == 0;
      if (!inside) {
        return false;
      }
    }
    for (const uint8_t byte : next.reserved) {
      if (byte != 0) {
        return false;
      }
    }
    state().configuration = next;
    std::memset(state().tiles, 0, sizeof state().tiles);
    return next.palette == 1;
  }

  // Rows of a tile to or from memory; stride 0 bytes apart is allowed.
  static bool move(const Instruction& at, bool load) {
    if (!is_configured(at.reg) || (at.rm & 7) != 4) {
      return false;
    }
    const Configuration& known = state().configuration;
    const uint8_t* row = at.address - at.stride;  // the index counts rows: the first is at base + displacement
    for (int r = 0; r < known.rows[at.reg]; ++r, row += at.stride) {
      uint8_t* tile = state().tiles[at.reg][r];
      if (load) {
        std::memcpy(tile, row, known.row_bytes[at.reg]);
      } else {
        std::memcpy(const_cast<uint8_t*>(row), tile, known.row_bytes[at.reg]);
      }
    }
    return true;
  }

  template <class Element>
  static Element element(int tile, int row, int column) {
    Element value;
    std::memcpy(&value, state().tiles[tile][row] + column * static_cast<int>(sizeof(Element)), sizeof value);
    return value;
  }
  template <class Element>
  static void set_element(int tile, int row, int column, Element value) {
    std::memcpy(state().tiles[tile][row] + column * static_cast<int>(sizeof(Element)), &value, sizeof value);
  }

  static float without_denormals(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? 0.0F : value; }
  static float bfloat16_element(int tile, int row, int column) {
    return without_denormals(tensor::to_float({element<uint16_t>(tile, row, column)}));
  }

  // sum [M, N] += A [M, K] B [K, N], where a cell of 32 bits of A or B holds neighbours in k.
  static bool multiply(const Instruction& at, bool bfloat16) {
    const int sum = at.reg, a = at.rm, b = at.vvvv;
    if (!is_configured(sum) || !is_configured(a) || !is_configured(b) || sum == a || sum == b || a == b) {
      return false;
    }
    const Configuration& known = state().configuration;
    const int m = known.rows[sum], n = known.row_bytes[sum] / 4, k = known.row_bytes[a] / 4;
    if (known.rows[a] != m || known.row_bytes[b] / 4 != n || known.rows[b] != k) {
      return false;
    }
    for (int row = 0; row < m; ++row) {
      for (int column = 0; column < n; ++column) {
        bfloat16 ? add_bfloat16(sum, a, b, row, column, k) : add_int8(sum, a, b, row, column, k);
      }
    }
    return true;
  }

  static void add_bfloat16(int sum, int a, int b, int row, int column, int depth) {
    std::array<float, 2> sums = {};
    for (int k = 0; k < depth; ++k) {
      for (int i = 0; i < 2; ++i) {
        float& part = sums[static_cast<size_t>(i)];
        part = without_denormals(
            std::fma(bfloat16_element(a, row, 2 * k + i), bfloat16_element(b, k, 2 * column + i), part));
      }
    }
    const float both = without_denormals(sums[0] + sums[1]);
    set_element(sum, row, column, without_denormals(without_denormals(element<float>(sum, row, column)) + both));
  }

  static void add_int8(int sum, int a, int b, int row, int column, int depth) {
    auto total = element<int32_t>(sum, row, column);
    for (int k = 0; k < depth; ++k) {
      for (int i = 0; i < 4; ++i) {
        total += int32_t{element<int8_t>(a, row, 4 * k + i)} * int32_t{element<int8_t>(b, k, 4 * column + i)};
      }
    }
    set_element(sum, row, column, total);
  }

  static bool carry_out(const Instruction& at) {
    const bool in_memory = at.mod != 3;
    switch (at.opcode) {
      case 0x49:
        if (at.prefix == Instruction::kNone && in_memory && at.reg == 0) {
          return configure(at.address);
        }
        if (at.prefix == Instruction::kNone && !in_memory && at.reg == 0 && at.rm == 0) {
          state().configuration = {};
          return true;
        }
        if (at.prefix == Instruction::kF2 && !in_memory && at.rm == 0 && is_configured(at.reg)) {
          std::memset(state().tiles[at.reg], 0, sizeof state().tiles[at.reg]);
          return true;
        }
        return false;
      case 0x4B:
        return in_memory && (at.prefix == Instruction::kF2 || at.prefix == Instruction::kF3) &&
               move(at, at.prefix == Instruction::kF2);
      case 0x5C:
        return !in_memory && at.prefix == Instruction::kF3 && multiply(at, true);
      case 0x5E:
        return !in_memory && at.prefix == Instruction::kF2 && multiply(at, false);
      default:
        return false;
    }
  }

  static void handle(int signal, siginfo_t*, void* pointer) {
    auto& context = *static_cast<ucontext_t*>(pointer);
    Instruction instruction;
    if (!decode(context, instruction) || !carry_out(instruction)) {
      ::signal(signal, SIG_DFL);  // the instruction is met again and ends the program
      return;
    }
    ++state().count;
    context.uc_mcontext.gregs[REG_RIP] += instruction.size;
  }

  struct sigaction before_ = {};
};

}  // namespace dragoman::test_support
