/* generate.c - the command generate.
 *
 * Invariant: every byte of every file exists before the folder is opened, so a fault in any spec,
 * plan or template leaves it untouched. What is written depends on the specs' text and names, the
 * GPU and the options that headers cite; not on paths, time or the folder's former content.
 */
#include "generate.h"
#include "buildfile.h"
#include "dispatch.h"
#include "emit_many.h"
#include "kernel_set.h"
#include "outdir.h"
#include "plan_model.h"
#include "version.h"
#include <stdlib.h>
#include <string.h>

typedef struct job {
  const generate_options *o;
  diag *d;
  kernel_set set;
  const kernel_plan **plans; /* in the table's order */
  buf command;               /* as headers cite it */
  out_file *files;
  size_t file_count;
} job;

const char generate_stages[] = "spec, plan, model, dispatch, template";

exit_code exit_code_of(const diag *d, bool strict) {
  static const struct {
    const char *code;
    exit_code exit;
  } special[] = {{"out-of-memory", EXIT_INTERNAL}, {"template", EXIT_INTERNAL},
                 {"dispatch-hole", EXIT_INTERNAL}, {"output", EXIT_OUTPUT},
                 {"hand-edit", EXIT_OUTPUT},       {"not-ours", EXIT_OUTPUT}};
  if (!diag_errors(d)) return strict && diag_warnings(d) ? EXIT_SPEC : EXIT_DONE;
  for (size_t i = 0; i < sizeof special / sizeof *special; ++i)
    if (diag_has(d, special[i].code)) return special[i].exit;
  return EXIT_SPEC;
}

static bool out_of_memory(job *j) {
  diag_add(j->d, DIAG_ERROR, NULL, 0, NULL, "out-of-memory", "memory is short");
  return false;
}

/* -- The command, as headers cite it -------------------------------------------------------- */

/* A file name inside a comment and a shell line: quoted where it is not plain. */
static void cite_name(const char *name, buf *out) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-+";
  if (*name && !name[strspn(name, plain)]) {
    buf_puts(out, name);
    return;
  }
  buf_puts(out, "'");
  for (; *name; ++name) {
    unsigned char c = (unsigned char)*name;
    /* A backslash or a line feed could end or extend the comment. */
    char shown = c < 0x20 || c == 0x7f || c == '\\' || c == '\'' ? '?' : (char)c;
    buf_add(out, &shown, 1);
  }
  buf_puts(out, "'");
}

static void cite_command(const generate_options *o, buf *out) {
  buf_puts(out, "gemmgen");
  for (size_t i = 0; i < o->spec_count; ++i) {
    buf_puts(out, " ");
    cite_name(base_name(o->specs[i]), out);
  }
  buf_puts(out, " -o DIR");
  if (o->prefix[0]) buf_printf(out, " --prefix %s", o->prefix);
  if (o->gpu) buf_printf(out, " --gpu %s", o->gpu);
}

/* Is a spec's file named by an earlier one of the kernel's? */
static bool is_cited(const kernel *k, size_t at) {
  for (size_t i = 0; i < at; ++i)
    if (strcmp(base_name(k->specs[i]->file), base_name(k->specs[at]->file)) == 0) return true;
  return false;
}

static void cite_specs(const kernel *k, buf *out) {
  const char *file = NULL;
  for (size_t i = 0; i < k->spec_count; ++i) {
    if (k->specs[i]->file == file) continue; /* points of one file are neighbours */
    file = k->specs[i]->file;
    if (is_cited(k, i)) continue;
    if (out->size) buf_puts(out, ", ");
    cite_name(base_name(file), out);
  }
}

/* -- Files ---------------------------------------------------------------------------------- */

static bool sort_plans(job *j) {
  j->plans = malloc((j->set.count + 1) * sizeof *j->plans);
  if (!j->plans) return out_of_memory(j);
  for (size_t i = 0; i < j->set.count; ++i)
    j->plans[i] = &j->set.kernels[i].plan;
  dispatch_sort(j->plans, j->set.count);
  return dispatch_prove(j->plans, j->set.count, j->d);
}

/* A new file; NULL when memory is short. */
static buf *add_file(job *j, const char *name, const char *ending) {
  buf full = {0};
  buf_printf(&full, "%s%s", name, ending);
  if (full.failed) {
    buf_free(&full);
    out_of_memory(j);
    return NULL;
  }
  out_file *f = &j->files[j->file_count++];
  *f = (out_file){.name = full.data};
  return &f->text;
}

static bool emit_kernels(job *j) {
  emit_task *tasks = calloc(j->set.count + 1, sizeof *tasks);
  buf *specs = calloc(j->set.count + 1, sizeof *specs);
  bool ok = tasks && specs ? true : out_of_memory(j);
  for (size_t i = 0; ok && i < j->set.count; ++i) {
    const kernel *k = &j->set.kernels[i];
    cite_specs(k, &specs[i]);
    buf *text = add_file(j, k->plan.name, ".cu");
    ok = text && (!specs[i].failed || out_of_memory(j));
    tasks[i] = (emit_task){&k->plan, specs[i].data, text};
  }
  ok = ok && emit_many(tasks, j->set.count, j->o->templates, j->command.data, j->o->prefix, j->d);
  for (size_t i = 0; specs && i < j->set.count; ++i)
    buf_free(&specs[i]);
  free(specs);
  free(tasks);
  return ok;
}

static bool emit_all(job *j) {
  enum { OTHER_FILES = 2 };
  j->files = calloc(j->set.count + OTHER_FILES, sizeof *j->files);
  if (!j->files) return out_of_memory(j);
  if (!emit_kernels(j)) return false;
  buf *table = add_file(j, "gg_table", ".c");
  if (table) dispatch_table(j->plans, j->set.count, j->o->prefix, table);
  buf *build = table ? add_file(j, "CMakeLists", ".txt") : NULL;
  if (build) buildfile_print(j->plans, j->set.count, j->command.data, j->o->prefix, build);
  for (size_t i = 0; i < j->file_count; ++i)
    if (j->files[i].text.failed) return out_of_memory(j);
  return build != NULL;
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(const kernel *const *)a)->plan.name, (*(const kernel *const *)b)->plan.name);
}

static void manifest_kernel(const kernel *k, bool last, buf *out) {
  char inputs[65];
  plan_hash(&k->plan, inputs);
  buf_puts(out, "    { \"specs\": [");
  for (size_t i = 0; i < k->spec_count; ++i) {
    const kernel_spec *s = k->specs[i];
    /* The points of one call are neighbours. */
    if (i && k->specs[i - 1]->file == s->file && k->specs[i - 1]->line == s->line) continue;
    buf_puts(out, i ? ", { \"file\": " : "{ \"file\": ");
    buf_json_string(out, base_name(s->file));
    buf_printf(out, ", \"line\": %d }", s->line);
  }
  buf_printf(out, "],\n      \"inputs\": \"%s\",\n      \"gpu\": \"%s\",\n      \"plan\": ", inputs,
             k->plan.spec->gpu.name);
  plan_json(&k->plan, out);
  buf_puts(out, last ? " }\n" : " },\n");
}

static bool print_manifest(job *j, buf *out) {
  const kernel **sorted = malloc((j->set.count + 1) * sizeof *sorted);
  if (!sorted) return out_of_memory(j);
  for (size_t i = 0; i < j->set.count; ++i)
    sorted[i] = &j->set.kernels[i];
  if (j->set.count) qsort(sorted, j->set.count, sizeof *sorted, by_name);
  buf_printf(out, "{\n  \"format\": 1,\n  \"generator\": \"gemmgen %s\",\n  \"command\": ",
             GEMMGEN_VERSION);
  buf_json_string(out, j->command.data);
  buf_puts(out, ",\n  \"prefix\": ");
  buf_json_string(out, j->o->prefix);
  buf_puts(out, ",\n");
  outdir_list(j->files, j->file_count, out);
  buf_puts(out, "  \"kernels\": [\n");
  for (size_t i = 0; i < j->set.count; ++i)
    manifest_kernel(sorted[i], i + 1 == j->set.count, out);
  buf_puts(out, "  ],\n");
  outdir_seal(out);
  free(sorted);
  return !out->failed || out_of_memory(j);
}

/* -- Stages --------------------------------------------------------------------------------- */

static void dump_specs(job *j, buf *out) {
  for (size_t i = 0; i < j->set.specs.count; ++i) {
    const kernel_spec *s = &j->set.specs.specs[i];
    buf_printf(out, "%s# %s:%d %s %d\n", i ? "\n" : "", base_name(s->file), s->line,
               s->sweep ? "sweep" : "gemm", s->call);
    spec_print(s, out);
  }
}

static void dump_plans(job *j, buf *out) {
  for (size_t i = 0; i < j->set.count; ++i) {
    if (i) buf_puts(out, "\n");
    plan_print(&j->set.kernels[i].plan, out);
  }
  for (size_t i = 0; i < j->set.rejected; ++i) {
    const rejection *r = &j->set.rejections[i];
    buf_printf(out, "%s# rejected: %s:%d %s: %s\n", i ? "" : "\n", base_name(r->spec->file),
               r->spec->line, spec_field_name(r->fault.field), r->fault.text);
  }
}

static void dump_models(job *j, buf *out) {
  plan_model_csv_head(out);
  for (size_t i = 0; i < j->set.count; ++i) /* passes multiply nothing */
    if (!plan_is_pass(&j->set.kernels[i].plan)) plan_model_csv(&j->set.kernels[i].plan, out);
}

static void dump_dispatch(job *j, buf *out) {
  if (sort_plans(j)) dispatch_print(j->plans, j->set.count, out);
}

static void dump_templates(job *j, buf *out) {
  if (!sort_plans(j) || !emit_all(j)) return;
  for (size_t i = 0; i < j->set.count; ++i)
    buf_add(out, j->files[i].text.data, j->files[i].text.size);
}

static const struct {
  const char *name;
  void (*print)(job *j, buf *out);
} stages[] = {{"spec", dump_specs},
              {"plan", dump_plans},
              {"model", dump_models},
              {"dispatch", dump_dispatch},
              {"template", dump_templates}};

bool generate_stage_known(const char *stage) {
  for (size_t i = 0; i < sizeof stages / sizeof *stages; ++i)
    if (strcmp(stages[i].name, stage) == 0) return true;
  return false;
}

static void dump(job *j) {
  buf out = {0};
  for (size_t i = 0; i < sizeof stages / sizeof *stages; ++i)
    if (strcmp(stages[i].name, j->o->dump) == 0) stages[i].print(j, &out);
  if (out.failed)
    out_of_memory(j);
  else if (!diag_errors(j->d) && out.size)
    fwrite(out.data, 1, out.size, stdout); /* main checks stdout */
  buf_free(&out);
}

/* -- The command ---------------------------------------------------------------------------- */

static bool emit_and_write(job *j, outdir_result *result) {
  buf manifest = {0};
  bool ok =
      sort_plans(j) && emit_all(j) && print_manifest(j, &manifest) &&
      outdir_write(j->o->folder, j->files, j->file_count, &manifest, j->o->force, result, j->d);
  buf_free(&manifest);
  return ok;
}

static void tell(const job *j, const outdir_result *r, bool complete) {
  if (r->resumed) fprintf(stderr, "%s: a former run was interrupted; now complete\n", j->o->folder);
  const char *path = r->removed_paths.data;
  for (; path && *path; path += strcspn(path, "\n") + 1)
    fprintf(stderr, "removed %.*s: no spec asks for it any more\n", (int)strcspn(path, "\n"), path);
  if (j->set.rejected)
    fprintf(stderr, "%zu of %zu combinations rejected; `gemmgen explain` lists them\n",
            j->set.rejected, j->set.swept);
  if (j->o->quiet || !complete) return;
  printf("%s: %zu kernel%s; %zu file%s written, %zu unchanged, %zu removed\n", j->o->folder,
         j->set.count, j->set.count == 1 ? "" : "s", r->written, r->written == 1 ? "" : "s",
         r->unchanged, r->removed);
}

exit_code generate(const generate_options *o) {
  job j = {.o = o, .d = diag_new()};
  if (!j.d) return EXIT_INTERNAL;
  outdir_result result = {0};
  cite_command(o, &j.command);
  bool ok = kernel_set_load(&j.set, o->specs, o->spec_count, o->gpu, j.d);
  if (ok && j.command.failed) ok = out_of_memory(&j);
  bool stop = o->strict && diag_warnings(j.d);
  bool wrote = false;
  if (ok && o->dump)
    dump(&j);
  else if (ok && !stop)
    wrote = emit_and_write(&j, &result);
  diag_print(j.d, stderr);
  if (wrote || result.removed) tell(&j, &result, wrote);
  if (ok && stop && !diag_errors(j.d))
    fputs("gemmgen: --strict: warnings count as errors; nothing was written\n", stderr);
  exit_code code = exit_code_of(j.d, o->strict);
  for (size_t i = 0; i < j.file_count; ++i) {
    free(j.files[i].name);
    buf_free(&j.files[i].text);
  }
  buf_free(&result.removed_paths);
  free(j.files);
  free(j.plans);
  buf_free(&j.command);
  kernel_set_free(&j.set);
  diag_free(j.d);
  return code;
}
