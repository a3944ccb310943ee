/* test_script.c - the Lua host: what scripts see, what stops them, where faults stand. */
#include "unit.h"
#include "script.h"
#include <stdio.h>
#include <string.h>

static bool runs(script_kind kind, const char *text, script_fault *f) {
  const script_limits *limits = kind == SCRIPT_SPEC ? &script_spec_limits : &script_template_limits;
  script *s = script_new(kind, limits);
  assert_non_null(s);
  bool ok = script_load(s, "x.lua", text, strlen(text), f) && script_call(s, 0, 0, f);
  assert_int_equal(lua_gettop(script_state(s)), 0);
  script_free(s);
  return ok;
}

static void specs_see_the_allow_list_only(void **state) {
  (void)state;
  script_fault f;
  script *s = script_new(SCRIPT_SPEC, &script_spec_limits);
  lua_State *L = script_state(s);
  lua_pushglobaltable(L);
  int names = 0;
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    ++names;
    assert_non_null(strstr(" ipairs type error tostring tonumber math ", lua_tostring(L, -2)));
  }
  assert_int_equal(names, 6);
  lua_pop(L, 1);
  script_free(s);
  assert_true(runs(SCRIPT_SPEC,
                   "for i, x in ipairs{1,2} do local y = math.max(i, x) end "
                   "if type(tonumber('3')) ~= 'number' then error('no') end "
                   "if tostring(2 // 1) .. tostring(true) ~= '2true' then error('no') end",
                   &f));
  static const char *const refused[] = {
      "math.random()",    "math.randomseed(1)", "return _G.x",          "return _ENV.os.x",
      "('x'):rep(3)",     "return (''):len()",  "setmetatable({}, {})", "pcall(error)",
      "return #string.x", "coroutine.wrap()",   "local t <close> = {}", "print(1)",
      "error(nil)",       "error({})",          "tostring({})",         "tostring(nil)",
      "return 'a' < 1",   "return '10' + 1",    "return nope",          "goto nowhere"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
    if (runs(SCRIPT_SPEC, refused[i], &f)) fail_msg("%s passed", refused[i]);
    assert_int_equal(f.line, 1);
    assert_true(f.text[0]);
  }
}

static void faults_know_their_place(void **state) {
  (void)state;
  script_fault f;
  assert_false(runs(SCRIPT_SPEC, "local x = 1\n\nx()", &f));
  assert_string_equal(f.code, "script-error");
  assert_string_equal(f.source, "x.lua");
  assert_int_equal(f.line, 3);
  assert_string_equal(f.text, "attempt to call a number value (local 'x')");

  assert_false(runs(SCRIPT_SPEC, "local function f()\n error('deep')\nend\nf()\nf()", &f));
  assert_int_equal(f.line, 2);
  assert_string_equal(f.text, "deep");
  assert_string_equal(f.trace, "x.lua:2 < x.lua:4");

  assert_false(runs(SCRIPT_SPEC, "local function f()\n error('caller', 2)\nend\nf()", &f));
  assert_int_equal(f.line, 4);
  assert_string_equal(f.text, "caller");

  assert_false(runs(SCRIPT_SPEC, "x = = 2", &f));
  assert_string_equal(f.code, "syntax");
  assert_int_equal(f.line, 1);

  assert_false(runs(SCRIPT_SPEC, "\x1bLua", &f));
  assert_string_equal(f.code, "binary-chunk");
}

static void limits_stop_a_script(void **state) {
  (void)state;
  static const struct {
    const char *text, *code;
    int line;
  } cases[] = {
      {"\nwhile true do end", "script-steps", 2},
      {"\n\nfor i = 1, 1e9 do local x = i end", "script-steps", 3},
      {"local s = 'x'\nfor i = 1, 99 do s = s .. s end", "script-memory", 2},
      {"local t = {}\nfor i = 1, 1e9 do\nt[i] = {}\nend", "script-memory", 3},
      {"local function f() return 1 + f() end\nf()", "script-depth", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    script_fault f;
    assert_false(runs(SCRIPT_SPEC, cases[i].text, &f));
    assert_string_equal(f.code, cases[i].code);
    assert_int_equal(f.line, cases[i].line);
    assert_string_equal(f.source, "x.lua");
  }
}

static void nesting_in_the_text_is_bounded(void **state) {
  (void)state;
  static char text[200001];
  memset(text, '{', sizeof text - 1);
  memcpy(text, "x = ", 4);
  script_fault f;
  assert_false(runs(SCRIPT_SPEC, text, &f));
  assert_string_equal(f.code, "syntax");
}

static void a_state_survives_its_faults(void **state) {
  (void)state;
  script *s = script_new(SCRIPT_SPEC, &script_spec_limits);
  script_fault f;
  for (int i = 0; i < 3; ++i) {
    const char *bomb = "local t = {} for i = 1, 1e9 do t[i] = {} end";
    assert_true(script_load(s, "x", bomb, strlen(bomb), &f));
    assert_false(script_call(s, 0, 0, &f));
    assert_string_equal(f.code, "script-memory");
    const char *good = "return 1 + 1";
    assert_true(script_load(s, "x", good, strlen(good), &f));
    assert_true(script_call(s, 0, 1, &f));
    assert_int_equal(lua_tointeger(script_state(s), -1), 2);
    lua_pop(script_state(s), 1);
  }
  script_free(s);
  script_free(NULL);
}

static void templates_have_string_and_table(void **state) {
  (void)state;
  script_fault f;
  assert_true(runs(SCRIPT_TEMPLATE,
                   "local t = {} for i = 1, 3 do t[i] = ('%d'):format(i) end "
                   "assert(table.concat(t, ',') == '1,2,3' and math.floor(1.5) == 1)",
                   &f));
  assert_false(runs(SCRIPT_TEMPLATE, "return io.open", &f));
  assert_false(runs(SCRIPT_TEMPLATE, "load('x')", &f));
  assert_false(runs(SCRIPT_TEMPLATE, "math.random()", &f));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(specs_see_the_allow_list_only),
      cmocka_unit_test(faults_know_their_place),
      cmocka_unit_test(limits_stop_a_script),
      cmocka_unit_test(nesting_in_the_text_is_bounded),
      cmocka_unit_test(a_state_survives_its_faults),
      cmocka_unit_test(templates_have_string_and_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
