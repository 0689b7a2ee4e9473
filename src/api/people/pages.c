/* pages.c - the pages that the service has of its own: accepting invitations, setting a new password, confirming an address.
 *
 * They make a link that somebody was handed work without a console.  The
 * token is behind the # of the address, which a browser sends to nobody, so
 * that it is in no log.  Script and style are files of their own: the policy
 * of the pages allows nothing that is not from this service, nothing inline,
 * and no frame around them. */
#include <string.h>

#include "call/operation.h"
#include "console/console.h"

#define POLICY                                                                                              \
	"Content-Security-Policy: default-src 'none'; img-src data:; script-src 'self'; style-src 'self'; " \
	"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
#define GUARDED                                                       \
	"Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n" \
	"X-Content-Type-Options: nosniff\r\nCross-Origin-Opener-Policy: same-origin\r\n"

/* clang-format off */
#define HEAD(title) \
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" \
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" \
	"<title>" title "</title>\n<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"pages/account.css\">\n" \
	"<script src=\"pages/account.js\" defer></script>\n</head>\n<body>\n<main>\n<h1>" title "</h1>\n" \
	"<p id=\"say\" role=\"status\" aria-live=\"polite\"></p>\n" \
	"<noscript><p>This page needs JavaScript. Without it, "
#define ON "<p id=\"on\" hidden><a href=\"./\">Go on</a></p>\n"
#define TAIL "</main>\n</body>\n</html>\n"
#define PASSWORD(id, label, complete) \
	"<label for=\"" id "\">" label "</label>\n<input id=\"" id "\" type=\"password\" autocomplete=\"" \
	complete "\" required minlength=\"8\" maxlength=\"1024\">\n"
#define NEW_PASSWORD \
	PASSWORD("password", "Password, at least 8 characters", "new-password") \
	PASSWORD("again", "The same again", "new-password")

static const char invite_page[] =
	HEAD("Invitation")
	"send the token to <code>POST /auth/accept-invite</code>.</p></noscript>\n"
	"<form id=\"accept\" hidden>\n<p>You were invited. Choose the name that others will see, and a password to sign in with.</p>\n"
	"<label for=\"name\">Your name</label>\n"
	"<input id=\"name\" type=\"text\" autocomplete=\"name\" required maxlength=\"255\">\n"
	NEW_PASSWORD "<button type=\"submit\">Accept the invitation</button>\n</form>\n"
	"<form id=\"login\" hidden>\n<p>Sign in to see who has invited you.</p>\n"
	"<label for=\"email\">Email address</label>\n"
	"<input id=\"email\" type=\"email\" autocomplete=\"username\" required maxlength=\"253\">\n"
	"<label for=\"present\">Password</label>\n"
	"<input id=\"present\" type=\"password\" autocomplete=\"current-password\" required maxlength=\"1024\">\n"
	"<button type=\"submit\">Sign in</button>\n</form>\n"
	"<div id=\"signed\" hidden>\n<p id=\"whose\"></p>\n"
	"<button type=\"button\" id=\"mine\">Show my invitations</button>\n"
	"<button type=\"button\" id=\"other\">Accept as somebody else</button>\n"
	"<p><a href=\"./\">Stay signed in, and do nothing</a></p>\n</div>\n"
	"<ul id=\"open\" hidden></ul>\n" ON TAIL;

static const char reset_page[] =
	HEAD("New password")
	"send the token to <code>POST /auth/reset/confirm</code>.</p></noscript>\n"
	"<form id=\"reset\" hidden>\n<p>Choose a new password. Every login of yours ends, and every API key.</p>\n"
	NEW_PASSWORD "<label><input id=\"keep\" type=\"checkbox\"> Keep my API keys: nobody else had my account</label>\n"
	"<button type=\"submit\">Set the password</button>\n</form>\n" ON TAIL;

/* A button, and nothing by itself: what follows links in letters is not always a person. */
static const char confirm_page[] =
	HEAD("Confirm your address")
	"send the token to <code>POST /auth/confirm</code>.</p></noscript>\n"
	"<form id=\"confirm\" hidden>\n<p>Your account is made, and this browser signed in, when you confirm. If it was not you who asked "
	"for it, do not: whoever did chose the password.</p>\n"
	"<label for=\"asked\">The password that you chose when you asked for the account</label>\n"
	"<input id=\"asked\" type=\"password\" autocomplete=\"current-password\" required maxlength=\"1024\">\n"
	"<button type=\"submit\">Confirm the address</button>\n</form>\n" ON TAIL;

/* The colours are those of the console (console/src/style/tokens.css). */
static const char style[] =
	":root{color-scheme:light dark;--bg:light-dark(#fbfaf7,#141210);--raised:light-dark(#fff,#1e1b18);--ink:light-dark(#231f19,#edebe7);"
	"--muted:light-dark(#5d5750,#ada9a2);--line:light-dark(#e0ded8,#33302b);--control:light-dark(#838078,#7c7670);--lake:light-dark(#07618f,#78c1ec);"
	"--danger:light-dark(#b12725,#f98f87);--tint:light-dark(#ffeae8,#421c19)}\n"
	"*{box-sizing:border-box}\n"
	"body{font:14px/20px \"Atkinson Hyperlegible Next\",system-ui,sans-serif;margin:0;background:var(--bg);color:var(--ink);overflow-wrap:break-word}\n"
	"main{max-width:380px;margin:0 auto;padding:12vh 20px 40px;display:grid;gap:16px}\n"
	"h1{font-size:22px;line-height:28px;font-weight:550;letter-spacing:-.01em;margin:0}\n"
	"p{margin:0}\n"
	"a{color:var(--lake);text-underline-offset:2px}\n"
	"form,#signed{display:grid;gap:4px;justify-items:start}\n"
	"label{font-weight:550;margin-top:12px}\n"
	"input{width:100%;min-height:36px;font:inherit;font-size:16px;color:inherit;padding:6px 9px;border:1px solid var(--control);border-radius:4px;background:var(--raised)}\n"
	"input[type=checkbox]{width:auto;min-height:0;margin:0 6px 0 0}\n"
	"button{min-height:36px;font:inherit;font-weight:550;padding:6px 14px;border:1px solid var(--control);border-radius:4px;background:var(--raised);color:var(--ink);cursor:pointer}\n"
	"form>button,li button:first-of-type{background:var(--ink);border-color:var(--ink);color:var(--bg)}\n"
	"form>button{margin-top:16px;width:100%}\n"
	"#signed{gap:12px}\n"
	"li button{margin:12px 8px 0 0}\n"
	"@media (pointer:coarse){input,button{min-height:44px}}\n"
	":focus-visible{outline:2px solid var(--lake);outline-offset:2px}\n"
	"[hidden]{display:none!important}\n"
	"#say:empty{display:none}\n"
	"#say.bad{border-left:3px solid var(--danger);background:var(--tint);color:var(--danger);padding:8px 12px}\n"
	".small{font-size:13px;color:var(--muted);overflow-wrap:anywhere}\n"
	"ul{list-style:none;padding:0;margin:0}\n"
	"li{border-top:1px solid var(--line);padding:16px 0}\n";

/* What people and tenants are called is only ever put in as text. */
static const char script[] =
	"'use strict';\n"
	"const $ = (id) => document.getElementById(id);\n"
	"const token = location.hash.slice(1);\n"
	"let login = '';\n"
	"if (token) history.replaceState(null, '', location.pathname);\n"
	"\n"
	"function say(text, bad) {\n"
	"  $('say').textContent = text;\n"
	"  $('say').className = bad ? 'bad' : '';\n"
	"}\n"
	"\n"
	"function show(id) {\n"
	"  for (const other of ['accept', 'signed', 'login', 'open', 'reset', 'confirm', 'on']) if ($(other)) $(other).hidden = other !== id;\n"
	"  const first = id && $(id).querySelector('input');\n"
	"  if (first) first.focus();\n"
	"}\n"
	"\n"
	"async function ask(method, path, body) {\n"
	"  const headers = login ? { Authorization: 'Bearer ' + login } : {};\n"
	"  if (body) headers['Content-Type'] = 'application/json';\n"
	"  const reply = await fetch(path, { method, headers, body: body && JSON.stringify(body) });\n"
	"  const text = await reply.text();\n"
	"  let json = {};\n"
	"  try { json = JSON.parse(text); } catch { /* nothing was said */ }\n"
	"  return { status: reply.status, ok: reply.ok, json };\n"
	"}\n"
	"\n"
	"const reason = (r) => (r.json.errors ? r.json.errors.map((e) => e.field + ' ' + e.message).join('; ') : r.json.detail) || 'It did not work.';\n"
	"\n"
	"function onSubmit(id, act) {\n"
	"  if (!$(id)) return;\n"
	"  $(id).addEventListener('submit', async (event) => {\n"
	"    const button = $(id).querySelector('button');\n"
	"    event.preventDefault();\n"
	"    button.disabled = true;\n"
	"    say('One moment.');\n"
	"    try { await act(); } catch { say('The service cannot be reached.', true); }\n"
	"    button.disabled = false;\n"
	"  });\n"
	"}\n"
	"\n"
	"function chosen() {\n"
	"  if ($('password').value === $('again').value) return $('password').value;\n"
	"  say('The two passwords are not the same.', true);\n"
	"  $('again').focus();\n"
	"  return '';\n"
	"}\n"
	"\n"
	"onSubmit('accept', async () => {\n"
	"  const password = chosen();\n"
	"  if (!password) return;\n"
	"  const r = await ask('POST', 'auth/accept-invite', { token, name: $('name').value, password });\n"
	"  if (r.status === 401) show('login');\n"
	"  if (!r.ok) return say(reason(r), true);\n"
	"  show('on');\n"
	"  say('Welcome. You are a member of ' + r.json.user.memberships.map((m) => m.tenant_name).join(', ') + ', and signed in as ' + r.json.user.email + '.');\n"
	"});\n"
	"\n"
	"onSubmit('reset', async () => {\n"
	"  const password = chosen();\n"
	"  if (!password) return;\n"
	"  const r = await ask('POST', 'auth/reset/confirm', { token, password, keep_keys: $('keep').checked });\n"
	"  if (!r.ok) return say(reason(r), true);\n"
	"  show('on');\n"
	"  say('The password is set. Sign in with it.');\n"
	"});\n"
	"\n"
	"onSubmit('confirm', async () => {\n"
	"  const r = await ask('POST', 'auth/confirm', { token, password: $('asked').value });\n"
	"  if (!r.ok) return say(reason(r), true);\n"
	"  show('on');\n"
	"  say('Welcome. You are signed in as ' + r.json.user.email + '.');\n"
	"});\n"
	"\n"
	"onSubmit('login', async () => {\n"
	"  const r = await ask('POST', 'auth/login', { email: $('email').value, password: $('present').value });\n"
	"  if (!r.ok) return say(reason(r), true);\n"
	"  login = r.json.token;\n"
	"  $('present').value = '';\n"
	"  await list();\n"
	"});\n"
	"\n"
	"function button(text, act) {\n"
	"  const made = document.createElement('button');\n"
	"  made.type = 'button';\n"
	"  made.textContent = text;\n"
	"  made.addEventListener('click', act);\n"
	"  return made;\n"
	"}\n"
	"\n"
	"async function answer(invitation, accept) {\n"
	"  const r = await ask('POST', 'me/invitations/' + encodeURIComponent(invitation.tenant_id), { accept });\n"
	"  if (!r.ok) return say(reason(r), true);\n"
	"  await list();\n"
	"  say(accept ? 'You are a member of ' + invitation.tenant_name + ' now.' : 'Declined.');\n"
	"}\n"
	"\n"
	"async function list() {\n"
	"  const r = await ask('GET', 'me/invitations');\n"
	"  if (r.status === 401) {\n"
	"    show('login');\n"
	"    return say('');\n"
	"  }\n"
	"  if (!r.ok) return say(reason(r), true);\n"
	"  $('open').replaceChildren(...r.json.items.map((i) => {\n"
	"    const item = document.createElement('li');\n"
	"    const text = document.createElement('p');\n"
	"    text.textContent = i.tenant_name + ' asks you to join as ' + i.role[0] + i.role.slice(1).toLowerCase() + '.';\n"
	"    item.append(text, button('Accept', () => answer(i, true)), button('Decline', () => answer(i, false)));\n"
	"    return item;\n"
	"  }));\n"
	"  show('open');\n"
	"  say(r.json.items.length ? '' : 'There is no invitation for you.');\n"
	"}\n"
	"\n"
	"/* Accepting signs somebody in: whoever is here already is told, and asked. */\n"
	"async function begin() {\n"
	"  const r = await ask('GET', 'me');\n"
	"  if (!r.ok) return show('accept');\n"
	"  $('whose').textContent = 'This browser is signed in as ' + r.json.email + '. If the invitation is for that address, it is among your invitations. '\n"
	"    + 'If it is for another, accepting it ends this login and signs this browser in as that person.';\n"
	"  $('mine').addEventListener('click', () => list());\n"
	"  $('other').addEventListener('click', () => show('accept'));\n"
	"  show('signed');\n"
	"}\n"
	"\n"
	"const own = $('reset') ? 'reset' : $('confirm') ? 'confirm' : '';\n"
	"if (own && token) show(own);\n"
	"else if (own) say('This link is not whole: open it as you were given it.', true);\n"
	"else if (token) begin().catch(() => say('The service cannot be reached.', true));\n"
	"else list().catch(() => say('The service cannot be reached.', true));\n";
/* clang-format on */

OPERATION(invitePage, NONE, NONE, .gives = "text/html; charset=utf-8", .storeless = true,
	.open_query = true)
{
	buf_lit(&c->x->reply.extra, POLICY GUARDED);
	buf_lit(&c->x->reply.body, invite_page);
	return 0;
}

OPERATION(resetPage, NONE, NONE, .gives = "text/html; charset=utf-8", .storeless = true,
	.open_query = true)
{
	buf_lit(&c->x->reply.extra, POLICY GUARDED);
	buf_lit(&c->x->reply.body, reset_page);
	return 0;
}

OPERATION(confirmPage, NONE, NONE, .gives = "text/html; charset=utf-8", .storeless = true,
	.open_query = true)
{
	buf_lit(&c->x->reply.extra, POLICY GUARDED);
	buf_lit(&c->x->reply.body, confirm_page);
	return 0;
}

OPERATION(pageScript, NONE, NONE, .gives = "text/javascript; charset=utf-8", .storeless = true)
{
	buf_lit(&c->x->reply.extra, GUARDED);
	buf_lit(&c->x->reply.body, script);
	return 0;
}

/* The console's type, whose file is named by what is in it. */
static void put_type(struct buf *out)
{
	static const char name[] = "assets/atkinson-hyperlegible-next-";

	for (size_t i = 0; i < console_file_count; i++)
		if (strncmp(console_files[i].path, name, sizeof name - 1) == 0)
			buf_printf(out,
				"@font-face{font-family:\"Atkinson Hyperlegible Next\";font-weight:200 800;"
				"src:url(../console/%s) format(\"woff2\")}\n",
				console_files[i].path);
}

OPERATION(pageStyle, NONE, NONE, .gives = "text/css; charset=utf-8", .storeless = true)
{
	buf_lit(&c->x->reply.extra, GUARDED);
	if (c->app->unrouted == console_answer)
		put_type(&c->x->reply.body);
	buf_lit(&c->x->reply.body, style);
	return 0;
}

#define PAGE .tag = "Identity", .as_printed = true, .unpublished = true

static const struct route routes[] = {
	{ METHOD_GET, "/invite", &invitePage, PERM_PUBLIC, 200, PAGE,
		.doc = "The page on which an invitation is accepted." },
	{ METHOD_GET, "/reset", &resetPage, PERM_PUBLIC, 200, PAGE,
		.doc = "The page on which a new password is set." },
	{ METHOD_GET, "/confirm", &confirmPage, PERM_PUBLIC, 200, PAGE,
		.doc = "The page on which an address is confirmed." },
	{ METHOD_GET, "/pages/account.js", &pageScript, PERM_PUBLIC, 200, PAGE,
		.doc = "Their script." },
	{ METHOD_GET, "/pages/account.css", &pageStyle, PERM_PUBLIC, 200, PAGE,
		.doc = "Their style." },
};
RESOURCE(pages, routes, NULL);
