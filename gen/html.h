/* html.h - explain as one page that needs no network: figures as inline SVG, tables, the listing.
 */
#ifndef GEN_HTML_H
#define GEN_HTML_H

#include "explain_parts.h"
#include "explain_sheet.h"

/* The whole page, well-formed as XML too. Errors (a template that fails) go to the job's diag. */
void html_page(explain_job *j, buf *out);
/* Writes text to path by way of a temporary file; false: errno says why. */
bool html_write(const char *path, const buf *text);

/* Everything up to the page's own contents, which begin with nav or main; and what follows them. */
void html_begin(buf *out, const char *title, const char *subtitle);
void html_end(buf *out);

/* -- Parts, one file each. id begins every id of the figure. --------------------------------------
 */

/* f: a problem, or NULL. */
void html_roofline(const sheet *s, const sheet_fit *f, const char *id, buf *out);
void html_shared(const sheet *s, const char *id, buf *out);
void html_ring(const sheet *s, const char *id, buf *out);
void html_waves(const sheet *s, const sheet_fit *f, const char *id, buf *out);

/* Text with <, >, & and " escaped. */
void html_text(buf *out, const char *text);
/* Opens a figure with its caption and an SVG of w x h units with title and description; the caller
 * ends it with html_figure_end. listing: id of the listing's section that it is about, or NULL. */
void html_figure(buf *out, const char *id, const char *title, const char *description, int w,
                 int h);
void html_figure_end(buf *out, const char *listing);

#endif
