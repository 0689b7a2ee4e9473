/* image_files.c - see image_files.h.
 *
 * What is not ours is pinned: images by their digest, actions by their commit.
 * No text has a secret, and none asks for privileges. */
#include "repos/image_files.h"

#include <string.h>

const char *const image_pipelines[] = {
	[IMAGE_GITLAB] = "gitlab", [IMAGE_GITEA] = "gitea", [IMAGE_GITHUB] = "github", NULL
};

/* ---- the name of a base image ---- */

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"

/* A part of a name: letters and digits, with single marks between them. */
static size_t part_of_name(const char *text)
{
	size_t n = strspn(text, LOWER);

	while (n && text[n] && strchr("._-", text[n])) {
		size_t marks = text[n] == '_' && text[n + 1] == '_' ? 2 : 1;
		size_t more = strspn(text + n + marks, LOWER);

		if (!more)
			return 0;
		n += marks + more;
	}
	return n;
}

/* Where it lies is said, so that no machine takes it from elsewhere. */
static size_t host_of_name(const char *text)
{
	size_t n = part_of_name(text), port;

	if (!n)
		return 0;
	if (text[n] == ':') {
		port = strspn(text + n + 1, "0123456789");
		return port && port <= 5 ? n + 1 + port : 0;
	}
	return memchr(text, '.', n) ? n : 0;
}

size_t image_name_length(const char *text)
{
	size_t at = 0, n = host_of_name(text);

	if (!n || text[n] != '/' || strlen(text) > IMAGE_BASE_MAX)
		return 0;
	while (text[at + n] == '/') {
		at += n + 1;
		n = part_of_name(text + at);
		if (!n)
			return 0;
	}
	return at + n;
}

/* With its colon; 0: there is none. */
static size_t tag_length(const char *text)
{
	size_t n = *text == ':' ? strspn(text + 1, LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.-") : 0;

	return n && n <= 128 && text[1] != '.' && text[1] != '-' ? n + 1 : 0;
}

bool image_name_is_whole(const char *text, bool *ret_tagged)
{
	size_t name = image_name_length(text), tag = name ? tag_length(text + name) : 0;

	*ret_tagged = tag > 0;
	return name && !text[name + tag];
}

bool image_base_is_pinned(const char *text)
{
	size_t name = image_name_length(text), tag = name ? tag_length(text + name) : 0;
	const char *digest = text + name + tag;

	return tag && strncmp(digest, "@sha256:", 8) == 0 &&
	       strspn(digest + 8, "0123456789abcdef") == 64 && !digest[8 + 64];
}

/* ---- the files ---- */

static const char dockerfile[] =
	"# The image of this agent: the platform's base image and the packages in requirements.txt.\n"
	"# What runs in it is the base image's matter: there is no entry point, no command and no source here.\n"
	"ARG BASE_IMAGE=%s\n"
	"FROM ${BASE_IMAGE}\n"
	"\n"
	"USER root\n"
	"COPY requirements.txt /tmp/requirements.txt\n"
	"RUN if grep -Eq '^[[:space:]]*[^#[:space:]]' /tmp/requirements.txt; then \\\n"
	"        pip install --no-cache-dir --disable-pip-version-check -r /tmp/requirements.txt; \\\n"
	"    fi && rm /tmp/requirements.txt\n"
	"\n"
	"# The agent's user, who has no rights, by number: every base image knows it.\n"
	"USER 1000:1000\n";

static const char requirements[] = "# One pinned package per line, such as: requests==2.32.3\n";

static const char ignore[] =
	"# Nothing of this repository gets into a build but what is named here.\n"
	"*\n"
	"!requirements.txt\n";

#define BUILDKIT                                            \
	"docker.io/moby/buildkit:v0.33.0-rootless@"         \
	"sha256:80b15f0735e87bab7bf59ec4d695dfb4a7cfb25521" \
	"cf56dc75d6f256285b63ef"

static const char gitlab[] =
	"# Builds the image and pushes it to this project's container registry, on the default branch and on version tags.\n"
	"# It needs no privileges; the runner has to allow user namespaces.\n"
	"stages: [build]\n"
	"\n"
	"build-image:\n"
	"  stage: build\n"
	"  timeout: 1 hour\n"
	"  image:\n"
	"    name: " BUILDKIT "\n"
	"    entrypoint: [\"\"]\n"
	"  rules:\n"
	"    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH\n"
	"    - if: $CI_COMMIT_TAG =~ /^v[0-9]/\n"
	"  variables:\n"
	"    BUILDKITD_FLAGS: --oci-worker-no-process-sandbox\n"
	"  before_script:\n"
	"    - umask 077\n"
	"    - mkdir -p \"$HOME/.docker\"\n"
	"    - printf '{\"auths\":{\"%s\":{\"username\":\"%s\",\"password\":\"%s\"}}}' \"$CI_REGISTRY\" \"$CI_REGISTRY_USER\" "
	"\"$CI_REGISTRY_PASSWORD\" > \"$HOME/.docker/config.json\"\n"
	"  script:\n"
	"    - >-\n"
	"      buildctl-daemonless.sh build --frontend dockerfile.v0 --local context=. --local dockerfile=.\n"
	"      --output \"type=image,\\\"name=$CI_REGISTRY_IMAGE:$CI_COMMIT_SHA,$CI_REGISTRY_IMAGE:$CI_COMMIT_REF_SLUG\\\",push=true\"\n"
	"      --metadata-file metadata.json\n"
	"    - digest=$(sed -n 's/.*\"containerimage.digest\"[^\"]*\"\\(sha256:[0-9a-f]*\\)\".*/\\1/p' metadata.json)\n"
	"    - test -n \"$digest\"\n"
	"    - echo \"image_ref $CI_REGISTRY_IMAGE@$digest\"\n";

/* The same for both hosts that know workflows, but where it pushes to and as whom. */
static const char workflow[] =
	"# Builds the image and pushes it to %s, on the default branch and on version tags.\n"
	"%s"
	"name: image\n"
	"on:\n"
	"  push:\n"
	"    branches: [main]\n"
	"    tags: [\"v[0-9]*\"]\n"
	"\n"
	"permissions:\n"
	"  contents: read\n"
	"  packages: write\n"
	"\n"
	"concurrency:\n"
	"  group: image-${{ github.ref }}\n"
	"  cancel-in-progress: true\n"
	"\n"
	"jobs:\n"
	"  image:\n"
	"    runs-on: ubuntu-latest\n"
	"    timeout-minutes: 60\n"
	"    steps:\n"
	"      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2\n"
	"        with:\n"
	"          persist-credentials: false\n"
	"      - id: name\n"
	"        run: |\n"
	"          registry=%s\n"
	"          name=$(echo \"$GITHUB_REPOSITORY\" | tr '[:upper:]' '[:lower:]')\n"
	"          echo \"registry=$registry\" >> \"$GITHUB_OUTPUT\"\n"
	"          echo \"image=$registry/$name\" >> \"$GITHUB_OUTPUT\"\n"
	"      - uses: docker/setup-buildx-action@b5ca514318bd6ebac0fb2aedd5d36ec1b5c232a2 # v3.10.0\n"
	"      - uses: docker/login-action@74a5d142397b4f367a81961eba4e8cd7edddf772 # v3.4.0\n"
	"        with:\n"
	"          registry: ${{ steps.name.outputs.registry }}\n"
	"          username: ${{ github.actor }}\n"
	"          password: ${{ secrets.%s }}\n"
	"      - id: build\n"
	"        uses: docker/build-push-action@263435318d21b8e681c14492fe198d362a7d2c83 # v6.18.0\n"
	"        with:\n"
	"          context: .\n"
	"          push: true\n"
	"          tags: |\n"
	"            ${{ steps.name.outputs.image }}:${{ github.sha }}\n"
	"            ${{ steps.name.outputs.image }}:${{ github.ref_name }}\n"
	"      - run: echo \"image_ref $IMAGE@$DIGEST\"\n"
	"        env:\n"
	"          IMAGE: ${{ steps.name.outputs.image }}\n"
	"          DIGEST: ${{ steps.build.outputs.digest }}\n";

static struct bare_file file(const char *path, const char *text)
{
	return (struct bare_file){ path, text, strlen(text) };
}

static struct bare_file pipeline_file(struct arena *a, int pipeline)
{
	switch ((enum image_pipeline)pipeline) {
	case IMAGE_GITEA:
		return file(".gitea/workflows/image.yml",
			arena_printf(a, workflow, "the registry of this host",
				"# The secret REGISTRY_TOKEN is a token that may write packages.\n",
				"\"${GITHUB_SERVER_URL#*://}\"", "REGISTRY_TOKEN"));
	case IMAGE_GITHUB:
		return file(".github/workflows/image.yml",
			arena_printf(a, workflow, "ghcr.io", "", "ghcr.io", "GITHUB_TOKEN"));
	case IMAGE_GITLAB:
		break;
	}
	return file(".gitlab-ci.yml", gitlab);
}

void image_files(
	struct arena *a, const struct image_choice *choice, struct bare_file ret[IMAGE_FILES])
{
	ret[0] = file("Dockerfile", arena_printf(a, dockerfile, choice->base));
	ret[1] = file("requirements.txt", requirements);
	ret[2] = file(".dockerignore", ignore);
	ret[3] = pipeline_file(a, choice->pipeline);
}
