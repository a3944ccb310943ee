-- wgmma_wide.lua - panels of D with elements of 4 bytes: stmatrix moves 16-bit pairs, so each lane stores its
-- two neighbouring columns itself.
--
-- A half-warp stores at once: 4 rows of 32 bytes. The swizzle moves two of the four by less than 32 bytes, so
-- that they would meet in the same banks: half of the rows store their groups of 8 columns in another order, and
-- all 32 banks take part.

local names = use("names")

local wide = { methods = { "begin_wide", "wide_order", "wide_panel" } }

-- The lanes' row in the warpgroup, where they store, and by how much their chunks are turned.
function wide:begin_wide()
  local p = self.p
  local lines = {
    ("const int row = %s;"):format(self:lane_row()),
    ("const unsigned to = staged + (unsigned)row * %d + lane %% 2 * 8;"):format(p.panel * p.element_d),
  }
  local o = self:wide_order()
  if o.groups > 0 then lines[#lines + 1] = ("const int odd = %s; // groups in another order"):format(o.odd) end
  lines[#lines + 1] = ("const int turn = %s ^ lane / 2 %% 2%s;"):format(o.turn,
    o.groups > 0 and (" ^ odd * %d"):format(2 * o.groups) or "")
  lines[#lines + 1] = ("%s x0, x1;"):format(names.memory_type(p.type_d))
  return lines
end

local orders = {
  [128] = { turn = "row % 8", groups = 2, odd = "lane / 4 % 2" },
  [64] = { turn = "row / 2 % 4", groups = 1, odd = "lane / 8 % 2" },
  [32] = { turn = "row / 4 % 2", groups = 0 },
}

-- The same where the first operand comes through registers: lanes lane / 4 then have rows 2 or 4 apart.
function wide.registers_order(blocks)
  return { turn = "row % 8", groups = blocks == 2 and 1 or 0, odd = "lane / 8 % 2" }
end

-- By how much the swizzle turns the chunks of a row; what odd lanes change in the number of a group of columns.
function wide:wide_order() return self.order or orders[self.p.panel_swizzle] end

-- The warpgroup's part of a panel, into the place-th of those that are staged.
function wide:wide_panel(panel, place)
  local p, lines = self.p, {}
  local pitch, groups, order = p.panel * p.element_d, p.panel // 8, self:wide_order().groups
  local store = ("gg_sts_%sx2"):format(names.memory_name(p.type_d))
  for i = 0, self.blocks - 1 do
    for half = 0, 1 do
      local row = self:instruction_row(i, half)
      local at = (place > 0 and (" + %d * PANEL_BYTES"):format(place) or "") .. (row > 0 and " + " .. row * pitch or "")
      for group = 0, groups - 1 do
        for e = 0, 1 do
          local function value(g)
            return names.narrowed(p.type_d, self:value(i, (panel * groups + g) * 4 + 2 * half + e), p.type_epilogue)
          end
          lines[#lines + 1] = order == 0 and ("x%d = %s;"):format(e, value(group))
            or ("x%d = odd ? %s : %s;"):format(e, value(group ~ order), value(group))
        end
        -- A row's number moves the turn where the lanes' rows are no multiples of 8 apart.
        lines[#lines + 1] = ("%s(to%s + (unsigned)(%d ^ turn) * 16, x0, x1);"):format(store, at, 2 * group ~ row % 8)
      end
    end
  end
  return lines
end

return wide
