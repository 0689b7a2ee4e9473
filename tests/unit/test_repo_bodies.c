/* test_repo_bodies.c - what requests of git have on the disk before they are whole: a most for a tenant, and one for all. */
#include "repos/repo_bodies.h"
#include "t.h"

TEST(repo_bodies_have_a_most_for_each_and_for_all)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct repos *r = NULL;

	CHECK_INT(repos_new(&r, &(struct repos_settings){ .folder = "/tmp", .bytes_max = 100 }, &a,
			  &p),
		0);
	CHECK(repo_bodies_take(r, "one", 150));
	CHECK(!repo_bodies_take(r, "one", 51));
	CHECK(repo_bodies_take(r, "one", 50));
	CHECK(repo_bodies_take(r, "two", 199));
	CHECK(!repo_bodies_take(r, "three", 2));
	repo_bodies_give(r, "one", 150);
	CHECK(repo_bodies_take(r, "three", 151));
	CHECK(!repo_bodies_take(r, "one", 1));
	repo_bodies_give(r, "one", 50);
	repo_bodies_give(r, "two", 199);
	repo_bodies_give(r, "three", 151);
	test_step("more tenants than there is room for");
	for (int i = 0; i < REPO_BODIES_TENANTS; i++)
		CHECK(repo_bodies_take(r, arena_printf(&a, "t%d", i), 1));
	CHECK(!repo_bodies_take(r, "more", 1));
	CHECK(repo_bodies_take(r, "t7", 1));
	repos_free(r);
	arena_free(&a);
}
