/* third.c - a third client of git's wire, by libgit2: clones URL into FOLDER, commits a file and pushes it to a ref.
 *
 *	third URL FOLDER PASSWORD REF
 *
 * It prints the commit, and then what the other side refused, if it did. */
#include <git2.h>
#include <stdio.h>
#include <string.h>

static const char *password;

static int give_password(
	git_credential **ret, const char *url, const char *user, unsigned types, void *payload)
{
	(void)url;
	(void)user;
	(void)types;
	(void)payload;
	return git_credential_userpass_plaintext_new(ret, "jo", password);
}

static int hear_refusal(const char *ref, const char *status, void *payload)
{
	(void)payload;
	if (status)
		printf("refused %s: %s\n", ref, status);
	return 0;
}

static int give_up(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, git_error_last() ? git_error_last()->message : "");
	return 1;
}

static int commit_file(git_repository *repo, git_oid *ret)
{
	git_index *index = NULL;
	git_tree *tree = NULL;
	git_commit *parent = NULL;
	git_signature *who = NULL;
	git_oid tree_id, at;
	git_index_entry entry = { .path = "third.md", .mode = GIT_FILEMODE_BLOB };

	return git_reference_name_to_id(&at, repo, "HEAD") ||
	       git_commit_lookup(&parent, repo, &at) || git_repository_index(&index, repo) ||
	       git_index_add_from_buffer(index, &entry, "third\n", 6) ||
	       git_index_write_tree(&tree_id, index) || git_tree_lookup(&tree, repo, &tree_id) ||
	       git_signature_now(&who, "Jo", "jo@example.net") ||
	       git_commit_create_v(ret, repo, "HEAD", who, who, NULL, "Third\n", tree, 1, parent);
}

int main(int argc, char **argv)
{
	git_clone_options clone = GIT_CLONE_OPTIONS_INIT;
	git_push_options push = GIT_PUSH_OPTIONS_INIT;
	git_repository *repo = NULL;
	git_remote *remote = NULL;
	char spec[256], id[GIT_OID_HEXSZ + 1];
	char *specs[] = { spec };
	git_oid made;

	if (argc != 5)
		return 2;
	password = argv[3];
	snprintf(spec, sizeof spec, "refs/heads/main:%s", argv[4]);
	git_libgit2_init();
	clone.fetch_opts.callbacks.credentials = push.callbacks.credentials = give_password;
	push.callbacks.push_update_reference = hear_refusal;
	if (git_clone(&repo, argv[1], argv[2], &clone))
		return give_up("clone");
	if (commit_file(repo, &made))
		return give_up("commit");
	printf("%s\n", git_oid_tostr(id, sizeof id, &made));
	if (git_remote_lookup(&remote, repo, "origin") ||
		git_remote_push(remote, &(git_strarray){ specs, 1 }, &push))
		return give_up("push");
	return 0;
}
