-- Exact `a * b / m`.
--
-- `muldiv(a, b, m)` returns the quotient, rounded down, and the rest, for whole numbers
-- 0 <= a, b < 2^53 and 1 <= m <= 2^52. A quotient of 2^53 or more is close, not exact.
--
-- Lua has doubles only. A product below 2^53 is exact, and so is its rounded-down quotient: the
-- true one is too far below the next whole number to be rounded up to it. A larger product never
-- comes into being: it is divided while it is built, from the highest bit of `a` down.

local function muldiv(a, b, m)
  local product = a * b
  if product < 2^53 then
    local quotient = product / m
    quotient = quotient - quotient % 1
    return quotient, product - quotient * m
  end
  local whole, part = b / m, b % m
  whole = whole - whole % 1
  local quotient, rest, bit = 0, 0, 2^52
  while bit >= 1 do
    quotient, rest = quotient * 2, rest * 2
    if rest >= m then
      quotient, rest = quotient + 1, rest - m
    end
    if a >= bit then
      a = a - bit
      quotient, rest = quotient + whole, rest + part
      if rest >= m then
        quotient, rest = quotient + 1, rest - m
      end
    end
    bit = bit / 2
  end
  return quotient, rest
end
