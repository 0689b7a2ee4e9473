// Made by contract.mjs from the service's own document; run it again instead of editing this.
export interface AcceptInvite { token: string; name: string; password: string; }
export interface AccessView { permissions: (string)[]; ways: (AccessWay)[]; }
export interface AccessWay { role: string; through: string; name: string | null; }
export interface ActiveSubtasksResponse { subtasks: (SubtaskSummary)[]; count: number; }
export interface AdminMailHealRequest { service?: "internal" | "external"; }
export interface AdminMailHealResult { provisioned: number; provisioning_enabled?: boolean; }
export interface AdminMailboxRow { id: string; address: string; tenant_id: string; tenant_name: string; agent_name: string | null; message_count: number; last_message_at: string | null; is_paused: boolean; }
export interface AdminMailboxRowPage { items: (AdminMailboxRow)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AdminMailboxUpdate { is_paused: boolean; }
export interface AdminModelUpdate { available_to_all_tenants?: boolean | null; config?: ModelConfig | null; description?: string | null; failover_chain?: (string)[] | null; is_free?: boolean | null; name?: string | null; pricing?: ModelPricing | null; status?: "active" | "disabled" | "experimental" | "deprecated" | null; }
export interface AdminTenantDetailRead { id: string; name: string; slug: string; plan_id: string; billing_email: string | null; created_at: string; updated_at: string; member_count: number; agent_count: number; plan: PlanRead; plan_status: "trialing" | "active" | "past_due" | "canceled"; usage_summary_30d: UsageSummary30d; task_summary_30d: TaskSummary30d; last_active_at: string | null; abandoned_warning_sent_at?: string | null; allow_superadmin_access?: boolean; default_skill_visibility_scope?: "private_only" | "tenant_allowed"; external_mail_enabled?: boolean; is_suspended?: boolean; paid?: boolean; status?: TenantStatus; voicebox_enabled?: boolean; }
export interface AdminTenantRead { id: string; name: string; slug: string; plan_id: string; billing_email: string | null; created_at: string; updated_at: string; member_count: number; agent_count: number; abandoned_warning_sent_at?: string | null; allow_superadmin_access?: boolean; default_skill_visibility_scope?: "private_only" | "tenant_allowed"; external_mail_enabled?: boolean; is_suspended?: boolean; paid?: boolean; status?: TenantStatus; voicebox_enabled?: boolean; }
export interface AdminTenantReadPage { items: (AdminTenantRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AdminTenantUpdate { plan_id?: string; plan_status?: "trialing" | "active" | "past_due" | "canceled"; status?: TenantStatus; is_suspended?: boolean | null; paid?: boolean; external_mail_enabled?: boolean; voicebox_enabled?: boolean; }
export interface AdminUserPrimaryTenant { id: string; name: string; role: string; }
export interface AdminUserRow { id: string; email: string; name: string | null; is_super_admin: boolean; is_suspended: boolean; tenant_count: number; primary_tenant: AdminUserPrimaryTenant | null; created_at: string; last_login_at: string | null; }
export interface AdminUserRowPage { items: (AdminUserRow)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AdminUserUpdate { is_suspended?: boolean; is_super_admin?: boolean; }
export interface AgentAttachmentRow { id: string; message_id: string; filename: string; content_type: string; size_bytes: number; created_at: string; }
export interface AgentAttachmentRowPage { items: (AgentAttachmentRow)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentAvatarRead { agent_id: string; has_avatar: boolean; repohost_synced: boolean; avatar_sha256?: string | null; avatar_size_bytes?: number | null; avatar_updated_at?: string | null; }
export interface AgentBudgetRead { hourly_limit_usd: number | null; }
export interface AgentBudgetUpdate { hourly_limit_usd?: number | null; }
export interface AgentCanAuthorSkillsUpdate { can_author_skills: boolean; }
export interface AgentCatalogModel { model_id: string; name: string; kind: string; status: string; is_free: boolean; enabled: boolean; callable_via_router: boolean; callable: boolean; access?: string | null; priority?: number | null; slug?: string | null; description?: string | null; context_window?: number | null; prompt_price_usd_per_token?: string | null; completion_price_usd_per_token?: string | null; supports_tools?: boolean | null; supports_vision?: boolean | null; uncallable_reason?: string | null; user_granted?: boolean | null; }
export interface AgentCatalogModelPage { items: (AgentCatalogModel)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentCatalogToggle { model_id: string; agent_id: string; enabled: boolean; }
export interface AgentChatConfigRead { chat_rph_limit?: number | null; chat_rpm_limit?: number | null; working_hours_days?: ("Mon" | "Tue" | "Wed" | "Thu" | "Fri" | "Sat" | "Sun")[] | null; working_hours_enabled?: boolean; working_hours_start?: string | null; working_hours_end?: string | null; working_hours_tz?: string | null; }
export interface AgentChatConfigUpdate { chat_rph_limit?: number | null; chat_rpm_limit?: number | null; working_hours_days?: ("Mon" | "Tue" | "Wed" | "Thu" | "Fri" | "Sat" | "Sun")[] | null; working_hours_enabled?: boolean | null; working_hours_start?: string | null; working_hours_end?: string | null; working_hours_tz?: string | null; }
export interface AgentClone { name: string; }
export interface AgentCodeRefUpdate { code_ref: string; }
export interface AgentCostRow { agent_id: string; agent_name: string; requests: number; input_tokens: number; output_tokens: number; cost_usd: number; anomaly?: boolean; byok_cost_usd?: number; provider_cost_usd?: number; cache_hit_rate?: number | null; cache_read_tokens?: number; cache_write_tokens?: number; models?: (AgentModelCostRow)[]; top_model?: string | null; }
export interface AgentCostsResponse { period: CostPeriod; agents: (AgentCostRow)[]; total_cost_usd: number; total_byok_cost_usd?: number; total_provider_cost_usd?: number; }
export interface AgentCreate { name: string; slug: string; kind?: "user" | "coding" | "analyst" | "dba" | "schroeder"; environment_mode?: "shared" | "isolated"; can_author_skills?: boolean; hidden?: boolean; is_admin_only?: boolean; resource_class?: string; description?: string | null; description_prompt?: string | null; initial_greeting?: string | null; image_ref?: string | null; iteration_warn_threshold?: number | null; voice?: string | null; }
export interface AgentDefaultRoleRead { agent_id: string; enabled: boolean; }
export interface AgentDefaultRoleUpdate { enabled: boolean; }
export interface AgentEvent { agent_id: string; action: string; }
export interface AgentExportRequest { storage_uri: string; sessions?: boolean; memories?: boolean; }
export interface AgentExportResult { storage_uri: string; sha256: string; size_bytes: number; }
export interface AgentFavoriteRead { user_id: string; agent_id: string; }
export interface AgentGrantRequest { user_id: string; agent_id: string; role?: "VIEWER" | "EDITOR" | null; }
export interface AgentImageRepoRead { agent_id: string; agent_slug: string; repo_url: string; }
export interface AgentImportFromBucketRequest { storage_uri: string; name?: string | null; }
export interface AgentImportResult { agent_id: string; agent_slug: string; agent_name: string; source_platform: string; idempotent_reuse?: boolean; memories_imported?: number; memories_failed?: number; messages_imported?: number; sessions_imported?: number; skills_imported?: number; skills_failed?: number; model_fallback_used?: boolean; model_slug_requested?: string | null; model_slug_resolved?: string | null; model_warning?: string | null; tools_attached?: (string)[]; tools_unmatched?: (string)[]; warnings?: (string)[]; }
export interface AgentIntegrationRead { provider: string; label: string; connected: boolean; }
export interface AgentIntegrationReadPage { items: (AgentIntegrationRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentListRead { id: string; tenant_id: string; name: string; slug: string; resource_class: string; code_ref: string; description: string | null; initial_greeting: string | null; image_ref: string | null; repo_url: string | null; is_active: boolean; is_admin_only: boolean; is_seed: boolean; can_author_skills: boolean; created_at: string; updated_at: string; created_by_agent_id?: string | null; created_by_id?: string | null; editor_enabled?: boolean; hidden?: boolean; is_favorite?: boolean; plan_read_only?: boolean; voice?: string | null; meeting_managed?: boolean; }
export interface AgentListReadPage { items: (AgentListRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentMailboxRow { id: string; address: string; kind: "internal" | "external"; is_active: boolean; created_at: string; }
export interface AgentMailboxRowPage { items: (AgentMailboxRow)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentModelChainUpdate { model_ids: (string)[]; }
export interface AgentModelCostRow { model_id: string; requests: number; input_tokens: number; output_tokens: number; cost_usd: number; cache_read_tokens?: number; cache_write_tokens?: number; }
export interface AgentModelGrant { agent_id: string; access?: "full" | "read_only"; priority?: number; }
export interface AgentModelRead { agent_id: string; model_id: string; access: string; created_at: string; priority?: number; }
export interface AgentModelReadPage { items: (AgentModelRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentOwnershipTransfer { new_owner_id: string; }
export interface AgentPromptCommitRead { id: string; short_id: string; title: string; author_email?: string | null; author_name?: string | null; committed_at?: string | null; web_url?: string | null; }
export interface AgentPromptCommitReadPage { items: (AgentPromptCommitRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentPromptFileProvenanceRead { file: string; field: string; repo_present: boolean; diverged: boolean; pending_projection?: boolean; commits: (AgentPromptCommitRead)[]; }
export interface AgentPromptProvenanceRead { available: boolean; files: (AgentPromptFileProvenanceRead)[]; repo_web_url?: string | null; unavailable_reason?: string | null; }
export interface AgentPromptResolve { file: string; take: PromptSide; }
export interface AgentRead { id: string; tenant_id: string; name: string; slug: string; resource_class: string; code_ref: string; description: string | null; initial_greeting: string | null; image_ref: string | null; repo_url: string | null; is_active: boolean; is_admin_only: boolean; is_seed: boolean; can_author_skills: boolean; created_at: string; updated_at: string; avatar_sha256?: string | null; bootstrap_instructions?: string | null; created_by_agent_id?: string | null; created_by_id?: string | null; description_prompt?: string | null; editor_enabled?: boolean; environment_mode?: "shared" | "isolated"; external_mail_enabled?: boolean; hidden?: boolean; iteration_warn_threshold?: number | null; plan_read_only?: boolean; skill_visibility_scope?: "private_only" | "tenant_allowed"; ssh_public_key?: string | null; voice?: string | null; meeting_managed?: boolean; }
export interface AgentRepoCreate { import_url?: string | null; token?: string | null; projection?: RepoProjection; }
export interface AgentRepoHook { url: string; secret: string; }
export interface AgentRepoRead { id: string; host: RepoHost; projection: RepoProjection; url: string; web_url: string | null; tip: string | null; observed_at: string | null; last_error: string | null; next_attempt_at: string | null; has_token: boolean; size_bytes: number; created_at: string; }
export interface AgentRepoRefs { branches: (string)[]; tags: (string)[]; complete?: boolean; }
export interface AgentRepoUpdate { projection?: RepoProjection; url?: string; token?: string | null; }
export interface AgentRoleAssignmentCreate { role: "VIEWER" | "MANAGER" | "OWNER"; }
export interface AgentRoleAssignmentRead { agent_id: string; user_id: string; tenant_id: string; role: "VIEWER" | "MANAGER" | "OWNER"; created_at: string; updated_at: string; user_email?: string | null; user_name?: string | null; }
export interface AgentRoleAssignmentReadPage { items: (AgentRoleAssignmentRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentRoleGroupGrantCreate { role: "VIEWER" | "MANAGER" | "OWNER"; }
export interface AgentRoleGroupGrantRead { agent_id: string; group_id: string; tenant_id: string; role: "VIEWER" | "MANAGER" | "OWNER"; created_at: string; updated_at: string; group_name?: string | null; }
export interface AgentRoleGroupGrantReadPage { items: (AgentRoleGroupGrantRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentRolePermissionGrid { roles?: Record<string, unknown>; }
export interface AgentSkillConfigRead { agent_id: string; skill_id: string; config?: Record<string, unknown> | null; }
export interface AgentSkillConfigUpdate { config?: Record<string, unknown> | null; }
export interface AgentSkillGrant { skill_id: string; is_enabled?: boolean; }
export interface AgentSkillPermissionEntry { skill_id: string; action?: string; allowed?: boolean; }
export interface AgentSkillPermissionRead { agent_id: string; skill_id: string; action: string; allowed: boolean; created_at: string; }
export interface AgentSkillPermissionReadPage { items: (AgentSkillPermissionRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentSkillPermissionUpdate { permissions: (AgentSkillPermissionEntry)[]; }
export interface AgentSkillRead { agent_id: string; skill_id: string; is_enabled: boolean; created_at: string; has_config?: boolean; }
export interface AgentSkillReadPage { items: (AgentSkillRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentSkillUpdate { is_enabled?: boolean; }
export interface AgentSkillVersion { agent_id: string; skill_id: string; is_pinned: boolean; digest: string | null; latest_digest: string | null; update_available: boolean; }
export interface AgentSkillVersionUpdate { digest: string | null; }
export interface AgentSkillVisibilityScopeUpdate { skill_visibility_scope: "private_only" | "tenant_allowed"; }
export interface AgentToolBundleGrantCreate { bundle_id: string; }
export interface AgentToolBundleRead { bundle: ToolBundleRead; granted_by_user_id: string | null; created_at: string; }
export interface AgentToolBundleReadPage { items: (AgentToolBundleRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentToolGrant { tool_id: string; is_enabled?: boolean; configuration?: Record<string, unknown> | null; }
export interface AgentToolRead { agent_id: string; tool_id: string; configuration: Record<string, unknown>; is_enabled: boolean; created_at: string; updated_at: string; }
export interface AgentToolReadPage { items: (AgentToolRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AgentToolUpdate { is_enabled?: boolean; configuration?: Record<string, unknown> | null; }
export interface AgentUpdate { name?: string | null; description?: string | null; description_prompt?: string | null; bootstrap_instructions?: string | null; initial_greeting?: string | null; can_author_skills?: boolean | null; editor_enabled?: boolean | null; environment_mode?: "shared" | "isolated" | null; external_mail_enabled?: boolean | null; hidden?: boolean | null; image_ref?: string | null; is_active?: boolean | null; is_admin_only?: boolean | null; iteration_warn_threshold?: number | null; resource_class?: string | null; ssh_public_key?: string | null; voice?: string | null; }
export interface AgentUserGrant { user_id: string; role?: string; }
export interface AgentUserGrantRead { agent_id: string; user_id: string; role: string; created_at: string; }
export interface AgentUserGrantReadPage { items: (AgentUserGrantRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AllowedAccountCreate { email: string; }
export interface AllowedAccountRead { id: string; email: string; created_at: string; }
export interface AllowedAccountReadPage { items: (AllowedAccountRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AnthropicBlockDelta { type: "content_block_delta"; index: number; delta: AnthropicDelta; }
export interface AnthropicBlockStart { type: "content_block_start"; index: number; content_block: AnthropicContentBlock; }
export interface AnthropicBlockStop { type: "content_block_stop"; index: number; }
export interface AnthropicCacheControl { type: "ephemeral"; ttl?: string | null; }
export interface AnthropicCacheCreation { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number; }
export interface AnthropicCitationsDelta { type: "citations_delta"; citation: Record<string, unknown>; }
export interface AnthropicDocumentParam { type: "document"; source: AnthropicSource; title?: string | null; context?: string | null; citations?: Record<string, unknown> | null; cache_control?: AnthropicCacheControl | null; }
export interface AnthropicFault { type: string; message: string; }
export interface AnthropicImageParam { type: "image"; source: AnthropicSource; cache_control?: AnthropicCacheControl | null; }
export interface AnthropicInputDelta { type: "input_json_delta"; partial_json: string; }
export interface AnthropicMessage { id: string; type: "message"; role: "assistant"; model: string; content: (AnthropicContentBlock)[]; stop_reason: string | null; stop_sequence: string | null; usage: AnthropicUsage; }
export interface AnthropicMessageCreate { model: string; max_tokens: number; messages: (AnthropicMessageParam)[]; system?: string | (AnthropicTextParam)[] | null; stream?: boolean | null; temperature?: number | null; top_p?: number | null; top_k?: number | null; stop_sequences?: (string)[] | null; tools?: (AnthropicTool)[] | null; tool_choice?: AnthropicToolChoice | null; thinking?: AnthropicThinking | null; output_config?: AnthropicOutputConfig | null; metadata?: AnthropicMetadata | null; }
export interface AnthropicMessageDelta { type: "message_delta"; delta: AnthropicStop; usage: AnthropicUsage; }
export interface AnthropicMessageParam { role: "user" | "assistant" | "system"; content: string | (AnthropicBlockParam)[]; }
export interface AnthropicMessageStart { type: "message_start"; message: AnthropicMessage; }
export interface AnthropicMessageStop { type: "message_stop"; }
export interface AnthropicMetadata { user_id?: string | null; }
export interface AnthropicOutputConfig { effort?: string | null; format?: AnthropicOutputFormat | null; }
export interface AnthropicOutputDetails { thinking_tokens: number; }
export interface AnthropicOutputFormat { type: "json_schema"; schema: Record<string, unknown>; }
export interface AnthropicPing { type: "ping"; }
export interface AnthropicProblem { type: "error"; error: AnthropicFault; request_id: string; }
export interface AnthropicRedactedBlock { type: "redacted_thinking"; data: string; }
export interface AnthropicSignatureDelta { type: "signature_delta"; signature: string; }
export interface AnthropicSource { type: string; media_type?: string | null; data?: string | null; url?: string | null; file_id?: string | null; content?: unknown; }
export interface AnthropicStop { stop_reason: string | null; stop_sequence: string | null; }
export interface AnthropicTextBlock { type: "text"; text: string; citations?: (Record<string, unknown>)[] | null; }
export interface AnthropicTextDelta { type: "text_delta"; text: string; }
export interface AnthropicTextParam { type: "text"; text: string; cache_control?: AnthropicCacheControl | null; citations?: unknown; }
export interface AnthropicThinking { type: string; budget_tokens?: number | null; display?: string | null; }
export interface AnthropicThinkingBlock { type: "thinking"; thinking: string; signature: string; }
export interface AnthropicThinkingDelta { type: "thinking_delta"; thinking: string; }
export interface AnthropicThinkingParam { type: "thinking"; thinking: string; signature: string; }
export interface AnthropicTokens { input_tokens: number; }
export interface AnthropicTokensAsked { model: string; messages: (AnthropicMessageParam)[]; system?: string | (AnthropicTextParam)[] | null; tools?: (AnthropicTool)[] | null; tool_choice?: AnthropicToolChoice | null; thinking?: AnthropicThinking | null; }
export interface AnthropicToolChoice { type: string; name?: string | null; disable_parallel_tool_use?: boolean | null; }
export interface AnthropicToolParam { type?: "custom"; name: string; description?: string | null; input_schema: Record<string, unknown>; strict?: boolean | null; cache_control?: AnthropicCacheControl | null; }
export interface AnthropicToolResultParam { type: "tool_result"; tool_use_id: string; content?: string | (AnthropicResultBlock)[] | null; is_error?: boolean | null; cache_control?: AnthropicCacheControl | null; }
export interface AnthropicToolUseBlock { type: "tool_use"; id: string; name: string; input: Record<string, unknown>; }
export interface AnthropicToolUseParam { type: "tool_use"; id: string; name: string; input: unknown; cache_control?: AnthropicCacheControl | null; }
export interface AnthropicUsage { input_tokens: number; cache_creation_input_tokens: number; cache_read_input_tokens: number; cache_creation: AnthropicCacheCreation; output_tokens: number; output_tokens_details: AnthropicOutputDetails; server_tool_use: null; service_tier: "standard"; }
export interface ApiKeyCreate { name: string; scopes?: (string)[]; expires_at?: string | null; }
export interface ApiKeyCreated { id: string; name: string; created_at: string; last_used_at: string | null; expires_at: string | null; scopes?: (string)[]; key: string; }
export interface ApiKeyOwnerRead { id: string; user_id: string; email: string; name: string | null; }
export interface ApiKeyOwnerReadPage { items: (ApiKeyOwnerRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface ApiKeyRead { id: string; name: string; created_at: string; last_used_at: string | null; expires_at: string | null; scopes?: (string)[]; }
export interface ApiKeyReadPage { items: (ApiKeyRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface ApprovalDecision { approved: boolean; }
export interface ApprovalRead { id: string; session_id: string; agent_id: string; tool_call_id: string; tool_name: string; arguments: Record<string, unknown>; pinned?: (string)[]; status: "pending" | "approved" | "denied" | "cancelled"; decided_by_id: string | null; created_at: string; decided_at: string | null; session_title?: string | null; decided_by_name?: string | null; }
export interface ApprovalReadPage { items: (ApprovalRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AssistantCreate { model: string; name?: string | null; description?: string | null; instructions?: string | null; tools?: (ChatToolOffered)[] | null; metadata?: Record<string, unknown> | null; temperature?: number | null; top_p?: number | null; response_format?: TextFormat | "auto" | null; }
export interface AssistantList { data: (AssistantObject)[]; object?: "list"; first_id?: string | null; last_id?: string | null; has_more?: boolean; }
export interface AssistantObject { id: string; created_at: number; object?: "assistant"; name?: string | null; description?: string | null; instructions?: string | null; metadata?: Record<string, unknown>; model?: string; }
export interface AssistantUpdate { model?: string | null; name?: string | null; description?: string | null; instructions?: string | null; tools?: (ChatToolOffered)[] | null; metadata?: Record<string, unknown> | null; temperature?: number | null; top_p?: number | null; response_format?: TextFormat | "auto" | null; }
export interface AuditLogRead { id: string; tenant_id: string | null; user_id: string | null; agent_id: string | null; action: string; resource_type: string; resource_id: string | null; ip: string | null; user_agent: string | null; meta: Record<string, unknown>; created_at: string; }
export interface AuditLogReadPage { items: (AuditLogRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface AuditSessionDetailResponse { session: TaskSessionRead; messages: (TaskMessageRead)[]; total_tokens: number; completion_tokens?: number; prompt_tokens?: number; total_cost_cents?: number; user_email?: string | null; user_name?: string | null; }
export interface AuditSessionListItem { id: string; tenant_id: string; agent_id: string; status: string; created_at: string; agent_name?: string | null; completed_at?: string | null; created_by_id?: string | null; message_count?: number; started_at?: string | null; title?: string | null; user_email?: string | null; user_name?: string | null; }
export interface AuditSessionListResponse { items: (AuditSessionListItem)[]; total: number; page: number; per_page: number; }
export interface AutocompleteItem { id: string; label: string; type: MentionType; detail?: string | null; }
export interface AutocompleteReply { items: (AutocompleteItem)[]; }
export interface BenchmarkCreate { dataset_uri: string; display_name: string; default_harness?: BenchmarkHarness; description?: string | null; evaluator_config?: Record<string, unknown>; }
export interface BucketFolder { prefix: string; folders: (string)[]; objects: (BucketObject)[]; next_after: string | null; used_bytes: number; max_bytes: number; }
export interface BucketObject { id: string; key: string; size_bytes: number; sha256: string; content_type: string; created_at: string; updated_at: string; storage_uri: string; }
export interface BucketObjectPage { items: (BucketObject)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface BucketPresign { key: string; method: "GET" | "PUT"; expires_s?: number; }
export interface BucketPresigned { url: string; expires_at: string; }
export interface ChangeEvent { resource: string; id: string | null; action: string; agent_id?: string | null; user_id?: string | null; }
export interface ChatAudio { data: string; format: string; }
export interface ChatAudioPart { type: "input_audio"; input_audio: ChatAudio; }
export interface ChatCompletion { id: string; object: "chat.completion"; created: number; model: string; choices: (ChatCompletionChoice)[]; usage: ChatCompletionUsage; }
export interface ChatCompletionCallDelta { index: number; id?: string | null; type?: string | null; function: ChatCompletionFunctionDelta; extra_content?: Record<string, unknown> | null; }
export interface ChatCompletionChoice { index: number; message: ChatCompletionMessage; logprobs: Record<string, unknown> | null; finish_reason: string; }
export interface ChatCompletionChunk { id: string; object: "chat.completion.chunk"; created: number; model: string; choices: (ChatCompletionPiece)[]; usage?: ChatCompletionUsage | null; }
export interface ChatCompletionCreate { model: string; messages: (ChatMessage)[]; stream?: boolean | null; stream_options?: ChatStreamOptions | null; max_completion_tokens?: number | null; max_tokens?: number | null; temperature?: number | null; top_p?: number | null; n?: number | null; stop?: string | (string)[] | null; tools?: (ChatToolOffered)[] | null; tool_choice?: ChatToolChoice | null; parallel_tool_calls?: boolean | null; response_format?: ChatFormat | null; reasoning_effort?: string | null; seed?: number | null; }
export interface ChatCompletionDelta { role?: string | null; content?: string | null; refusal?: string | null; reasoning_content?: string | null; tool_calls?: (ChatCompletionCallDelta)[] | null; }
export interface ChatCompletionDetails { reasoning_tokens: number; }
export interface ChatCompletionFunctionDelta { name?: string | null; arguments: string; }
export interface ChatCompletionMessage { role: "assistant"; content: string | null; refusal: string | null; reasoning_content?: string; tool_calls?: (ChatToolCall)[]; }
export interface ChatCompletionPiece { index: number; delta: ChatCompletionDelta; logprobs: Record<string, unknown> | null; finish_reason: string | null; }
export interface ChatCompletionUsage { prompt_tokens: number; completion_tokens: number; total_tokens: number; prompt_tokens_details: ChatPromptDetails; completion_tokens_details: ChatCompletionDetails; }
export interface ChatFile { file_data?: string | null; filename?: string | null; file_id?: string | null; }
export interface ChatFilePart { type: "file"; file: ChatFile; }
export interface ChatFunction { name: string; description?: string | null; parameters?: Record<string, unknown> | null; strict?: boolean | null; }
export interface ChatFunctionCall { name: string; arguments: string; }
export interface ChatFunctionName { name: string; }
export interface ChatImage { url: string; detail?: string | null; }
export interface ChatImagePart { type: "image_url"; image_url: ChatImage; }
export interface ChatJsonSchema { name: string; description?: string | null; schema?: Record<string, unknown> | null; strict?: boolean | null; }
export interface ChatMessage { role: "developer" | "system" | "user" | "assistant" | "tool" | "function"; content?: string | (ChatContentPart)[] | null; name?: string | null; tool_calls?: (ChatToolCall)[] | null; tool_call_id?: string | null; refusal?: string | null; reasoning_content?: string | null; }
export interface ChatPromptDetails { cached_tokens: number; cache_write_tokens: number; }
export interface ChatRefusalPart { type: "refusal"; refusal: string; }
export interface ChatSchemaFormat { type: "json_schema"; json_schema: ChatJsonSchema; }
export interface ChatStreamOptions { include_usage?: boolean | null; include_obfuscation?: boolean | null; }
export interface ChatTextPart { type: "text"; text: string; cache_control?: Record<string, unknown> | null; }
export interface ChatTool { type: "function"; function: ChatFunction; }
export interface ChatToolCall { id: string; type: "function"; function: ChatFunctionCall; extra_content?: Record<string, unknown> | null; }
export interface ChatToolNamed { type: "function"; function: ChatFunctionName; }
export interface ConversationCreate { items?: (ResponseInputItem)[] | null; metadata?: Record<string, unknown> | null; }
export interface ConversationItem { id: string; type: string; status?: string | null; role?: string | null; content?: string | (ResponseInputPart)[] | null; call_id?: string | null; name?: string | null; arguments?: string | null; output?: string | (ResponseInputPart)[] | null; summary?: (ResponseSummaryText)[] | null; encrypted_content?: string | null; }
export interface ConversationItemsCreate { items: (ResponseInputItem)[]; }
export interface ConversationObject { id: string; object?: "conversation"; created_at: number; metadata?: Record<string, unknown>; }
export interface CostPeriod { from: string; to: string; label: string; }
export interface CostPoint { at: string; requests: number; input_tokens: number; output_tokens: number; cache_read_tokens: number; cache_write_tokens: number; cost_usd: number; }
export interface CostSeries { id: string; name: string; cost_usd: number; points: (CostPoint)[]; }
export interface CostSeriesResponse { period: CostPeriod; bucket: string; by: string; series: (CostSeries)[]; total_cost_usd: number; }
export interface DeletedTenant { id: string; name: string; slug: string; erase_at: string; }
export interface DeletedTenantPage { items: (DeletedTenant)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface DeliveryDetail { delivery: DeliveryRead; body: string | null; }
export interface DeliveryRead { id: string; integration_id: string; delivery_id: string; event: string | null; action: string | null; status: DeliveryStatus; outcome: string; summary: string | null; caller_ip: string | null; user_agent: string | null; calls: number; session_id: string | null; attempts: number; error: string | null; waiting_for?: WaitingFor | null; waiting_until?: string | null; created_at: string; delivered_at: string | null; label: string; }
export interface DeliveryReadPage { items: (DeliveryRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface DeltaEvent { message_id: string; text: string; thought?: string | null; sealed?: string | null; maker?: string | null; redacted?: boolean | null; call?: number | null; call_id?: string | null; name?: string | null; arguments?: string | null; }
export interface Embedding { object: "embedding"; index: number; embedding: (number)[] | string; }
export interface EmbeddingCreate { model: string; input: EmbeddingInput; dimensions?: number | null; encoding_format?: string | null; user?: string | null; }
export interface EmbeddingList { object: "list"; data: (Embedding)[]; model: string; usage: EmbeddingUsage; }
export interface EmbeddingUsage { prompt_tokens: number; total_tokens: number; }
export interface FeedEvent { tenant_id: string | null; session_id?: string | null; seq?: number | null; data: Record<string, unknown>; }
export interface FieldProblem { field: string; code: string; message: string; }
export interface GroupCreate { name: string; description?: string | null; }
export interface GroupRead { id: string; name: string; description: string | null; member_count: number; created_at: string; }
export interface GroupReadPage { items: (GroupRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface GroupUpdate { name?: string; description?: string | null; }
export interface Health { status: string; }
export interface HookAnswer { status: HookOutcome; id: string; delivery_id: string; }
export interface IntegrationCreate { provider: IntegrationProvider; label: string; agent_id: string; guardrails?: IntegrationGuardrails | null; signing_secret?: string | null; delivery_id_header?: string | null; instructions?: string | null; is_active?: boolean; }
export interface IntegrationGuardrails { events?: (string)[] | null; senders?: (string)[] | null; repositories?: (string)[] | null; own_senders?: (string)[] | null; block_bots?: boolean; max_bytes?: number | null; per_minute?: number | null; working_hours?: HoursRule; budget?: BudgetRule; refuse_repeats_hours?: number | null; }
export interface IntegrationRead { id: string; tenant_id: string; agent_id: string; provider: IntegrationProvider; label: string; is_active: boolean; connected: boolean; webhook_url: string; guardrails: IntegrationGuardrails; delivery_id_header: string | null; instructions: string | null; signing_secret: string | null; grace_until: string | null; last_event_at: string | null; acts_as_id: string | null; acts_as_problem: string | null; created_by_id: string | null; created_at: string; updated_at: string; }
export interface IntegrationReadPage { items: (IntegrationRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface IntegrationRotate { grace_s?: number; signing_secret?: string | null; }
export interface IntegrationUpdate { label?: string; agent_id?: string; guardrails?: IntegrationGuardrails | null; delivery_id_header?: string | null; instructions?: string | null; acts_as_id?: string; is_active?: boolean; }
export interface InvitationAnswer { accept: boolean; }
export interface InvitationRead { tenant_id: string; tenant_name: string; tenant_slug: string; role: "OWNER" | "ADMIN" | "MEMBER" | "GUEST"; created_at: string; }
export interface InvitationReadPage { items: (InvitationRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface JobRead { id: string; tenant_id: string; kind: string; subject: string; lane: string; state: "waiting" | "delayed" | "held" | "running" | "dead"; priority: number; attempts: number; max_attempts: number; deaths: number; run_at: string; created_at: string; updated_at: string; waits_for?: string | null; error?: string | null; }
export interface JsonObjectFormat { type: "json_object"; }
export interface LetterAsked { accepted: boolean; }
export interface LoginReply { token: string; expires_at: string; user: Me; }
export interface LoginRequest { email: string; password: string; }
export interface MailAttachmentCreate { filename: string; content_type?: string; content?: string | null; key?: string | null; }
export interface MailCreate { to: (string)[]; cc?: (string)[]; bcc?: (string)[]; subject: string; text: string; html?: string | null; attachments?: (MailAttachmentCreate)[]; in_reply_to?: string | null; mailbox_id?: string | null; draft?: boolean; }
export interface MailForward { to: (string)[]; text?: string; }
export interface MailIntakeAnswer { results: (MailIntakeResult)[]; }
export interface MailIntakeResult { recipient: string; status: "accepted" | "duplicate" | "unknown" | "inactive"; id: string | null; }
export interface MailMessageRead { id: string; mailbox_id: string; thread_id: string; direction: "in" | "out"; state: "received" | "unreadable" | "held" | "draft" | "queued" | "sent" | "delivered" | "bounced" | "failed" | "blocked"; verdict: "pass" | "fail" | "none"; from: string; to: (string)[]; cc: (string)[]; bcc: (string)[]; subject: string; preview: string; text: string; extracted_text?: string | null; html_text?: string | null; labels: (string)[]; unread: boolean; attachments: (AgentAttachmentRow)[]; message_id_header: string; in_reply_to?: string | null; references: (string)[]; size_bytes: number; session_id?: string | null; error?: string | null; created_at: string; sent_at?: string | null; }
export interface MailMessageReadPage { items: (MailMessageRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface MailReplyCreate { text: string; html?: string | null; all?: boolean; attachments?: (MailAttachmentCreate)[]; draft?: boolean; }
export interface MailRules { allow_from?: (string)[]; block_from?: (string)[]; allow_to?: (string)[]; reply?: "auto" | "draft" | "off" | "always"; wake?: "auto" | "never"; }
export interface MailSuppression { id: string; address: string; reason: string; created_at: string; }
export interface MailSuppressionPage { items: (MailSuppression)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface MailThreadDetail { id: string; subject: string; participants: (string)[]; message_count: number; unread_count: number; last_message_id: string; last_message_at: string; session_id?: string | null; messages: (MailMessageRead)[]; }
export interface MailThreadRead { id: string; subject: string; participants: (string)[]; message_count: number; unread_count: number; last_message_id: string; last_message_at: string; session_id?: string | null; }
export interface MailThreadReadPage { items: (MailThreadRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface MailUpdate { unread?: boolean; labels?: (string)[]; to?: (string)[]; cc?: (string)[]; subject?: string; text?: string; }
export interface MailWaiting { id: string; agent_id: string; thread_id: string; state: "received" | "unreadable" | "held" | "draft" | "queued" | "sent" | "delivered" | "bounced" | "failed" | "blocked"; from: string; to: (string)[]; cc: (string)[]; subject: string; preview: string; error: string | null; created_at: string; }
export interface MailWaitingPage { items: (MailWaiting)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface MailboxUpdate { is_active: boolean; }
export interface Me { id: string; email: string; name: string | null; email_proven: boolean; is_super_admin: boolean; memberships: (Membership)[]; }
export interface MeUpdate { name?: string | null; }
export interface MemberAdd { email: string; role?: "OWNER" | "ADMIN" | "MEMBER" | "GUEST"; name?: string | null; }
export interface MemberAdded { user_id: string; email: string; name: string | null; role: "OWNER" | "ADMIN" | "MEMBER" | "GUEST"; status: "active" | "invited"; created_at: string; invite_url: string | null; invite_token: string | null; letter: "queued" | "no_mail" | "limited"; letter_again_at: string | null; }
export interface MemberRead { user_id: string; email: string; name: string | null; role: "OWNER" | "ADMIN" | "MEMBER" | "GUEST"; status: "active" | "invited"; created_at: string; }
export interface MemberReadPage { items: (MemberRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface MemberUpdate { role: "OWNER" | "ADMIN" | "MEMBER" | "GUEST"; }
export interface Membership { tenant_id: string; tenant_name: string; tenant_slug: string; role: "OWNER" | "ADMIN" | "MEMBER" | "GUEST"; permissions: (string)[]; }
export interface MemoryCreate { content: string; scope?: MemoryScope; }
export interface MemoryRead { id: string; agent_id: string; content: string; source_session_id: string | null; created_at: string; scope: MemoryScope; user_id: string | null; }
export interface MemoryReadPage { items: (MemoryRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface MessageCall { id: string; name: string; client?: boolean | null; alias?: string | null; arguments: unknown; extra_content?: Record<string, unknown> | null; }
export interface MessageCreate { content: string; file_ids?: (string)[]; }
export interface MessageEvent { id: string; session_id: string; role: "user" | "assistant" | "tool" | "system"; status: "streaming" | "complete" | "failed"; content: string; tool_calls: (MessageCall)[]; tool_call_id: string | null; model_id: string | null; prompt_tokens: number; completion_tokens: number; cache_read_tokens: number; cache_write_tokens: number; cost_usd: number; created_at: string; author_id?: string | null; parts?: (MessagePart)[] | null; }
export interface MessagePart { type: MessagePartType; place: number; file_id?: string | null; name?: string | null; content_type?: string | null; size_bytes?: number | null; url?: string | null; detail?: string | null; }
export interface ModelConfig { base_url?: string | null; model?: string | null; api_key?: string | null; api_key_set?: boolean | null; timeout_s?: number; total_timeout_s?: number; max_tokens?: number | null; headers?: Record<string, unknown> | null; endpoints?: (ModelEndpoint)[] | null; }
export interface ModelCreate { name: string; slug: string; kind: ModelKind; status?: "active" | "disabled" | "experimental" | "deprecated"; description?: string | null; context_window?: number | null; supports_tools?: boolean | null; supports_vision?: boolean | null; is_free?: boolean | null; available_to_all_tenants?: boolean | null; pricing?: ModelPricing | null; config?: ModelConfig | null; failover_chain?: (string)[] | null; }
export interface ModelPricing { prompt?: string | null; completion?: string | null; cache_read?: string | null; cache_write?: string | null; character?: string | null; second?: string | null; }
export interface ModelRead { id: string; name: string; slug: string; kind: ModelKind; status: "active" | "disabled" | "experimental" | "deprecated"; description: string | null; context_window: number | null; supports_tools: boolean; supports_vision: boolean; is_free: boolean; available_to_all_tenants: boolean; pricing: ModelPricing; config: ModelConfig | null; failover_chain: (string)[]; created_at: string; updated_at: string; }
export interface ModelReadPage { items: (ModelRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface ModelTenantRead { model_id: string; tenant_id: string; created_at: string; }
export interface NoticeEvent { code: string; text: string; run_id?: string | null; at?: string | null; }
export interface OpenAIDeleted { id: string; object: string; deleted: boolean; }
export interface OpenAIFault { message: string; type: string; param: string | null; code: string | null; }
export interface OpenAIMetadataUpdate { metadata?: Record<string, unknown> | null; }
export interface OpenAIModel { id: string; object?: "model"; created: number; owned_by: string; }
export interface OpenAIModelList { object?: "list"; data: (OpenAIModel)[]; }
export interface OpenAIProblem { error: OpenAIFault; }
export interface PasswordChange { current_password: string; new_password: string; }
export interface PasswordLink { url: string; token: string; expires_at: string; }
export interface PlanCreate { name: string; slug: string; monthly_price_usd?: number; max_agents?: number | null; max_members?: number | null; max_sessions_per_day?: number | null; }
export interface PlanRead { id: string; name: string; slug: string; monthly_price_usd: number; max_agents: number | null; max_members: number | null; max_sessions_per_day: number | null; created_at: string; }
export interface PlanReadPage { items: (PlanRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface PlanUpdate { name?: string; monthly_price_usd?: number; max_agents?: number | null; max_members?: number | null; max_sessions_per_day?: number | null; }
export interface Problem { type: string; title: string; status: number; detail: string; request_id: string; errors?: (FieldProblem)[]; }
export interface PromptProposalDecision { approved: boolean; }
export interface PromptProposalFile { file: string; field: string; was_sha256: string; sha256: string; diff: string | null; diff_cut: boolean; }
export interface PromptProposalRead { id: string; agent_id: string; commit_id: string; title: string; author_name: string | null; status: ProposalStatus; fields: (string)[]; files: (PromptProposalFile)[]; created_at: string; decided_at: string | null; decided_by_id: string | null; decided_by_name?: string | null; }
export interface PromptProposalRow { id: string; agent_id: string; commit_id: string; title: string; author_name: string | null; status: ProposalStatus; fields: (string)[]; created_at: string; decided_at: string | null; decided_by_id: string | null; decided_by_name?: string | null; }
export interface PromptProposalRowPage { items: (PromptProposalRow)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface ProviderKeyPut { api_key: string; base_url?: string | null; }
export interface ProviderKeyRead { provider: string; base_url: string | null; created_at: string; updated_at: string; }
export interface ProviderKeyReadPage { items: (ProviderKeyRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface QueueCount { state: "waiting" | "delayed" | "held" | "running" | "dead"; kind: string; jobs: number; oldest_at: string; }
export interface QueueRead { counts: (QueueCount)[]; oldest_seconds?: number | null; items: (JobRead)[]; next_after?: string | null; }
export interface RegisterConfirm { token: string; password: string; }
export interface RegisterRequest { email: string; name: string; password: string; }
export interface RepoEntry { name: string; path: string; kind: RepoEntryKind; object_id: string; size_bytes: number | null; }
export interface RepoTree { ref: string; commit_id: string; path: string; entries: (RepoEntry)[]; next_after: string | null; }
export interface ResetConfirm { token: string; password: string; keep_keys?: boolean; }
export interface ResetRequest { email: string; }
export interface ResponseApprovalAnswer { type: "mcp_approval_response"; id?: string | null; approval_request_id: string; approve: boolean; reason?: string | null; }
export interface ResponseApprovalRequest { id: string; type: "mcp_approval_request"; server_label: "lodge"; name: string; arguments: string; }
export interface ResponseArgumentsDelta { type: "response.function_call_arguments.delta"; sequence_number: number; item_id: string; output_index: number; delta: string; }
export interface ResponseArgumentsDone { type: "response.function_call_arguments.done"; sequence_number: number; item_id: string; output_index: number; name: string; arguments: string; }
export interface ResponseCallOutput { type: "function_call_output"; id?: string | null; status?: string | null; call_id: string; output: string | (ResponseInputPart)[]; }
export interface ResponseConversation { id: string; }
export interface ResponseCreate { model: string; input?: string | (ResponseInputItem)[] | null; instructions?: string | null; previous_response_id?: string | null; tools?: (ResponseTool)[] | null; tool_choice?: ResponseToolChoice | null; stream?: boolean | null; store?: boolean | null; background?: boolean | null; metadata?: Record<string, unknown> | null; max_output_tokens?: number | null; temperature?: number | null; top_p?: number | null; parallel_tool_calls?: boolean | null; text?: ResponseTextOptions | null; reasoning?: ResponseReasoningOptions | null; conversation?: ResponseConversation | string | null; truncation?: string | null; user?: string | null; include?: (string)[] | null; prompt_cache_key?: string | null; prompt_cache_options?: unknown; prompt_cache_retention?: string | null; safety_identifier?: string | null; service_tier?: string | null; top_logprobs?: number | null; max_tool_calls?: number | null; context_management?: unknown; stream_options?: ResponseStreamOptions | null; prompt?: null; moderation?: null; }
export interface ResponseEvent { type: "response.created" | "response.in_progress" | "response.completed" | "response.incomplete" | "response.failed"; sequence_number: number; response: ResponseObject; }
export interface ResponseFailure { code: string; message: string; }
export interface ResponseFunction { type: "function"; name: string; description?: string | null; parameters?: Record<string, unknown> | null; strict?: boolean | null; }
export interface ResponseFunctionCall { id: string; type: "function_call"; status: string; call_id: string; name: string; arguments: string; extra_content?: Record<string, unknown> | null; namespace?: string | null; }
export interface ResponseFunctionNamed { type: "function"; name: string; }
export interface ResponseInputCall { type: "function_call"; id?: string | null; status?: string | null; call_id: string; name: string; arguments: string; extra_content?: Record<string, unknown> | null; namespace?: string | null; }
export interface ResponseInputDetails { cached_tokens: number; }
export interface ResponseInputFile { type: "input_file"; file_data?: string | null; file_url?: string | null; filename?: string | null; file_id?: string | null; }
export interface ResponseInputImage { type: "input_image"; image_url?: string | null; file_id?: string | null; detail?: string | null; }
export interface ResponseInputMessage { type?: "message"; id?: string | null; status?: string | null; role: "user" | "assistant" | "system" | "developer"; content: string | (ResponseInputPart)[]; phase?: string | null; }
export interface ResponseInputReasoning { type: "reasoning"; id?: string | null; status?: string | null; summary?: (ResponseSummaryText)[] | null; content?: (Record<string, unknown>)[] | null; encrypted_content?: string | null; }
export interface ResponseInputText { type: "input_text"; text: string; }
export interface ResponseItemEvent { type: "response.output_item.added" | "response.output_item.done"; sequence_number: number; output_index: number; item: ResponseOutputItem; }
export interface ResponseItemList { object?: "list"; data?: (ResponseInputItem)[]; first_id?: string | null; last_id?: string | null; has_more: boolean; }
export interface ResponseItemReference { type: "item_reference"; id: string; }
export interface ResponseMessage { id: string; type: "message"; status: string; role: "assistant"; content: (ResponseContentPart)[]; }
export interface ResponseObject { id: string; object?: "response"; created_at: number; status: string; background: boolean; completed_at?: number | null; error?: ResponseFailure | null; incomplete_details?: ResponseShortfall | null; instructions?: string | null; max_output_tokens?: number | null; metadata?: Record<string, unknown>; model: string; output?: (ResponseOutputItem)[]; parallel_tool_calls: boolean; previous_response_id?: string | null; conversation?: ResponseConversation | null; reasoning?: ResponseReasoningOptions | null; store: boolean; temperature?: number | null; text?: ResponseTextOptions; tool_choice?: ResponseToolChoice | null; tools?: (ResponseTool)[]; top_p?: number | null; truncation: string; usage?: ResponseUsage | null; user?: string | null; prompt_cache_key?: string | null; safety_identifier?: string | null; service_tier?: string | null; top_logprobs?: number | null; max_tool_calls?: number | null; }
export interface ResponseObjectFormat { type: "json_object"; }
export interface ResponseOutputDetails { reasoning_tokens: number; }
export interface ResponsePartEvent { type: "response.content_part.added" | "response.content_part.done"; sequence_number: number; item_id: string; output_index: number; content_index: number; part: ResponseContentPart; }
export interface ResponsePlainFormat { type: "text"; }
export interface ResponseReasoning { id: string; type: "reasoning"; summary: (ResponseSummaryText)[]; encrypted_content?: string | null; }
export interface ResponseReasoningOptions { effort?: string | null; summary?: string | null; generate_summary?: string | null; }
export interface ResponseRefusal { type: "refusal"; refusal: string; }
export interface ResponseRefusalDelta { type: "response.refusal.delta"; sequence_number: number; item_id: string; output_index: number; content_index: number; delta: string; }
export interface ResponseRefusalDone { type: "response.refusal.done"; sequence_number: number; item_id: string; output_index: number; content_index: number; refusal: string; }
export interface ResponseSaidRefusal { type: "refusal"; refusal: string; }
export interface ResponseSaidText { type: "output_text"; text: string; annotations?: (Record<string, unknown>)[] | null; logprobs?: (Record<string, unknown>)[] | null; }
export interface ResponseSchemaFormat { type: "json_schema"; name: string; description?: string | null; schema: Record<string, unknown>; strict?: boolean | null; }
export interface ResponseShortfall { reason: string; }
export interface ResponseStreamOptions { include_obfuscation?: boolean | null; }
export interface ResponseSummaryDelta { type: "response.reasoning_summary_text.delta"; sequence_number: number; item_id: string; output_index: number; summary_index: number; delta: string; }
export interface ResponseSummaryDone { type: "response.reasoning_summary_text.done"; sequence_number: number; item_id: string; output_index: number; summary_index: number; text: string; }
export interface ResponseSummaryPartEvent { type: "response.reasoning_summary_part.added" | "response.reasoning_summary_part.done"; sequence_number: number; item_id: string; output_index: number; summary_index: number; part: ResponseSummaryText; }
export interface ResponseSummaryText { type: "summary_text"; text: string; }
export interface ResponseText { type: "output_text"; annotations: (null)[]; logprobs: (null)[]; text: string; }
export interface ResponseTextDelta { type: "response.output_text.delta"; sequence_number: number; item_id: string; output_index: number; content_index: number; logprobs: (null)[]; delta: string; }
export interface ResponseTextDone { type: "response.output_text.done"; sequence_number: number; item_id: string; output_index: number; content_index: number; logprobs: (null)[]; text: string; }
export interface ResponseTextOptions { format?: ResponseFormat | null; verbosity?: string | null; }
export interface ResponseUsage { input_tokens: number; input_tokens_details: ResponseInputDetails; output_tokens: number; output_tokens_details: ResponseOutputDetails; total_tokens: number; }
export interface RunActionCalls { tool_calls: (ChatToolCall)[]; }
export interface RunCallsDelta { type: "tool_calls"; tool_calls: (RunStepCallDelta)[]; }
export interface RunCreate { assistant_id: string; model?: string | null; instructions?: string | null; additional_instructions?: string | null; additional_messages?: (ThreadMessageCreate)[] | null; tools?: (ChatToolOffered)[] | null; metadata?: Record<string, unknown> | null; temperature?: number | null; top_p?: number | null; stream?: boolean | null; max_prompt_tokens?: number | null; max_completion_tokens?: number | null; truncation_strategy?: RunTruncation | null; tool_choice?: ChatToolChoice | null; parallel_tool_calls?: boolean | null; response_format?: TextFormat | "auto" | null; thread?: ThreadCreate | null; }
export interface RunDetailsDelta { step_details: RunCallsDelta; }
export interface RunError { code: string; message: string; }
export interface RunList { object?: "list"; data: (RunObject)[]; first_id?: string | null; last_id?: string | null; has_more: boolean; }
export interface RunObject { id: string; object?: "thread.run"; created_at: number; thread_id: string; assistant_id: string; status: string; required_action?: RunRequiredAction | null; last_error?: RunError | null; expires_at?: number | null; started_at?: number | null; cancelled_at?: number | null; failed_at?: number | null; completed_at?: number | null; incomplete_details?: null; model: string; instructions: string; tools?: (ChatToolOffered)[]; metadata?: Record<string, unknown>; usage?: RunUsage | null; temperature?: number | null; top_p?: number | null; max_prompt_tokens?: number | null; max_completion_tokens?: number | null; truncation_strategy?: RunTruncation | null; tool_choice?: ChatToolChoice | null; parallel_tool_calls: boolean; response_format?: TextFormat | "auto" | null; }
export interface RunRequiredAction { type: "submit_tool_outputs"; submit_tool_outputs: RunActionCalls; }
export interface RunStepCall { id: string; type: "function"; function: RunStepFunction; }
export interface RunStepCallDelta { id: string; type: "function"; function: RunStepFunction; index: number; }
export interface RunStepCalls { type: "tool_calls"; tool_calls: (RunStepCall)[]; }
export interface RunStepDelta { id: string; object: "thread.run.step.delta"; delta: RunDetailsDelta; }
export interface RunStepFunction { name: string; arguments: string; output: string | null; }
export interface RunStepList { object?: "list"; data: (RunStepObject)[]; first_id?: string | null; last_id?: string | null; has_more: boolean; }
export interface RunStepMessage { message_id: string; }
export interface RunStepObject { id: string; object?: "thread.run.step"; created_at: number; run_id: string; assistant_id: string; thread_id: string; type: string; status: string; cancelled_at?: number | null; completed_at?: number | null; expired_at?: number | null; failed_at?: number | null; last_error?: RunError | null; step_details: RunStepDetails; usage?: RunUsage | null; metadata?: Record<string, unknown>; }
export interface RunStepWrites { type: "message_creation"; message_creation: RunStepMessage; }
export interface RunToolOutput { tool_call_id: string; output?: string; }
export interface RunToolOutputs { tool_outputs: (RunToolOutput)[]; stream?: boolean | null; }
export interface RunTruncation { type: string; last_messages?: number | null; }
export interface RunUsage { prompt_tokens: number; completion_tokens: number; total_tokens: number; }
export interface ScannerGrantCreate { repo_name?: string | null; }
export interface ScannerGrantRead { id: string; tenant_id: string; agent_id: string; repo_name: string | null; granted_by_user_id: string | null; revoked_at: string | null; created_at: string; }
export interface ScannerGrantReadPage { items: (ScannerGrantRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface ScannerRead { provider: string; base_url: string; organization: string; created_at: string; updated_at: string; }
export interface ScannerRepositoryListResponse { repositories: (ScannerRepositoryOption)[]; }
export interface ScannerRepositoryOption { id: string; name: string; scanned_branch?: string | null; }
export interface ScannerUpdate { provider: string; base_url: string; organization: string; token?: string | null; }
export interface SessionBranch { message_id: string; }
export interface SessionCall { id: string; message_id: string; tool_call_id: string; name: string; state: string; arguments: string; child_session_id: string | null; created_at: string; started_at: string | null; ended_at: string | null; }
export interface SessionCallRead { id: string; message_id: string; tool_call_id: string; name: string; state: string; arguments: string; child_session_id: string | null; created_at: string; started_at: string | null; ended_at: string | null; }
export interface SessionCallReadPage { items: (SessionCallRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface SessionCancel { run_id?: string | null; }
export interface SessionCreate { title?: string | null; message?: string | null; metadata?: Record<string, unknown>; }
export interface SessionEvent { title: string | null; updated_at: string; }
export interface SessionExport { session: TaskSessionRead; messages: (TaskMessageRead)[]; runs: (SessionRun)[]; calls: (SessionCall)[]; approvals: (ApprovalRead)[]; summaries: (SessionSummary)[]; subtasks: (SubtaskSummary)[]; files: (SessionFileRead)[]; }
export interface SessionFileRead { id: string; session_id: string; name: string; content_type: string; size_bytes: number; created_at: string; }
export interface SessionFileReadPage { items: (SessionFileRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface SessionRun { id: string; user_id: string | null; status: string; model_id: string | null; iteration_count: number; prompt_tokens: number; completion_tokens: number; cache_read_tokens: number; cache_write_tokens: number; cost_usd: number; error_code: string | null; error: string | null; created_at: string; started_at: string | null; ended_at: string | null; }
export interface SessionSummary { id: string; content: string; created_at: string; }
export interface SessionUpdate { title?: string | null; metadata?: Record<string, unknown>; }
export interface SessionUsage { calls: number; prompt_tokens: number; completion_tokens: number; cache_read_tokens: number; cache_write_tokens: number; cost_usd: number; }
export interface SignInWays { providers: (string)[]; mail: boolean; }
export interface SkillCreate { name: string; slug: string; description: string; visibility?: "private" | "tenant" | "public"; instructions: string; license?: string | null; compatibility?: string | null; metadata?: Record<string, unknown>; allowed_tools?: (string)[]; created_by_agent_id?: string | null; }
export interface SkillFile { path: string; size_bytes: number; sha256: string; }
export interface SkillHookAnswer { status: CallOutcome; }
export interface SkillListRead { id: string; tenant_id: string; name: string; slug: string; description: string; visibility: "private" | "tenant" | "public"; license?: string | null; compatibility?: string | null; metadata: Record<string, unknown>; allowed_tools: (string)[]; files: (SkillFile)[]; is_seed: boolean; created_by_id?: string | null; created_by_agent_id?: string | null; created_at: string; updated_at: string; }
export interface SkillListReadPage { items: (SkillListRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface SkillRead { id: string; tenant_id: string; name: string; slug: string; description: string; visibility: "private" | "tenant" | "public"; instructions: string; license?: string | null; compatibility?: string | null; metadata: Record<string, unknown>; allowed_tools: (string)[]; files: (SkillFile)[]; is_seed: boolean; created_by_id?: string | null; created_by_agent_id?: string | null; created_at: string; updated_at: string; }
export interface SkillUpdate { name?: string; slug?: string; description?: string; visibility?: "private" | "tenant" | "public"; instructions?: string; license?: string | null; compatibility?: string | null; metadata?: Record<string, unknown>; allowed_tools?: (string)[]; }
export interface SkillWebhookCallRead { id: string; webhook_id: string; outcome: CallOutcome; reason: string | null; caller_ip: string | null; user_agent: string | null; calls: number; status: DeliveryStatus; session_id: string | null; error: string | null; waiting_for?: WaitingFor | null; waiting_until?: string | null; created_at: string; delivered_at: string | null; }
export interface SkillWebhookCallReadPage { items: (SkillWebhookCallRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface SkillWebhookCreate { label?: string | null; }
export interface SkillWebhookRead { id: string; agent_id: string; skill_id: string; label: string; url: string; token: string | null; acts_as_id: string | null; acts_as_problem: string | null; created_by_id: string | null; last_call_at: string | null; created_at: string; }
export interface SkillWebhookReadPage { items: (SkillWebhookRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface SpeechCreate { model: string; input: string; voice?: SpeechVoice | string | null; instructions?: string | null; response_format?: string | null; speed?: number | null; stream_format?: string | null; }
export interface SpeechEvent { type: string; audio?: string; usage?: Record<string, unknown> | null; }
export interface SpeechVoice { id: string; }
export interface StatusEvent { status: SessionStatus; run_id: string | null; error: string | null; waiting_for: WaitingFor | null; waiting_until: string | null; }
export interface SubtaskCreate { agent_id?: string | null; title: string; message: string; }
export interface SubtaskSummary { id: string; parent_session_id: string; agent_id: string; agent_name: string; title: string; status: SessionStatus; message_count: number; created_at: string; started_at: string | null; }
export interface SubtaskSummaryPage { items: (SubtaskSummary)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface TaskMessageRead { id: string; session_id: string; role: "user" | "assistant" | "tool" | "system"; status: "streaming" | "complete" | "failed"; content: string; tool_calls: (ToolCall)[]; tool_call_id: string | null; model_id: string | null; prompt_tokens: number; completion_tokens: number; cache_read_tokens: number; cache_write_tokens: number; cost_usd: number; created_at: string; author_id?: string | null; parts?: (MessagePart)[] | null; author_name?: string | null; deleted_at?: string | null; deleted_by_id?: string | null; }
export interface TaskMessageReadPage { items: (TaskMessageRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface TaskSessionRead { id: string; tenant_id: string; agent_id: string; parent_session_id: string | null; title: string | null; status: SessionStatus; origin: "user" | "webhook" | "mail" | "subtask" | "api" | "benchmark"; created_by_id: string | null; iteration_count: number; message_count: number; last_event_id: number; attention_at?: string | null; error: string | null; waiting_for?: WaitingFor | null; waiting_until?: string | null; created_at: string; started_at: string | null; completed_at: string | null; updated_at: string; metadata: Record<string, unknown>; }
export interface TaskSessionReadPage { items: (TaskSessionRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface TaskSummary30d { sessions: number; completed: number; failed: number; cancelled: number; running: number; messages: number; subtasks: number; }
export interface TenantCreate { name: string; slug: string; plan_id?: string | null; billing_email?: string | null; }
export interface TenantModel { id: string; name: string; slug: string; kind: ModelKind; status: "active" | "disabled" | "experimental" | "deprecated"; description: string | null; context_window: number | null; supports_tools: boolean; supports_vision: boolean; is_free: boolean; pricing: ModelPricing; created_at: string; }
export interface TenantModelPage { items: (TenantModel)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface TenantRead { id: string; name: string; slug: string; plan_id: string; billing_email: string | null; status: TenantStatus; is_suspended: boolean; allow_superadmin_access: boolean; default_skill_visibility_scope: "private_only" | "tenant_allowed"; external_mail_enabled: boolean; voicebox_enabled: boolean; paid: boolean; require_user_model_grants: boolean; created_at: string; updated_at: string; }
export interface TenantReadPage { items: (TenantRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface TenantUpdate { name?: string; billing_email?: string | null; default_skill_visibility_scope?: "private_only" | "tenant_allowed"; allow_superadmin_access?: boolean; external_mail_enabled?: boolean; require_user_model_grants?: boolean; }
export interface TextFormat { type: "text"; }
export interface ThreadContentDelta { content: (ThreadTextDelta)[]; }
export interface ThreadCreate { messages?: (ThreadMessageCreate)[] | null; metadata?: Record<string, unknown> | null; }
export interface ThreadImageAddress { url: string; detail?: string | null; }
export interface ThreadImageFile { type: "image_file"; image_file: ThreadImageKept; }
export interface ThreadImageKept { file_id: string; detail?: string | null; }
export interface ThreadImageUrl { type: "image_url"; image_url: ThreadImageAddress; }
export interface ThreadInputText { type: "text"; text: string; }
export interface ThreadMessageCreate { role: "user" | "assistant"; content: string | (ThreadInputText | ThreadImageUrl)[]; attachments?: (null)[] | null; metadata?: Record<string, unknown> | null; }
export interface ThreadMessageDelta { id: string; object: "thread.message.delta"; delta: ThreadContentDelta; }
export interface ThreadMessageList { object?: "list"; data: (ThreadMessageObject)[]; first_id?: string | null; last_id?: string | null; has_more: boolean; }
export interface ThreadMessageObject { id: string; object?: "thread.message"; created_at: number; thread_id: string; status: string; incomplete_details?: ResponseShortfall | null; completed_at?: number | null; incomplete_at?: number | null; role: string; content?: (ThreadTextPart | ThreadImageFile | ThreadImageUrl)[]; assistant_id?: string | null; run_id?: string | null; attachments?: (null)[]; metadata?: Record<string, unknown>; }
export interface ThreadObject { id: string; object?: "thread"; created_at: number; metadata?: Record<string, unknown>; tool_resources?: null; }
export interface ThreadText { value: string; annotations: (null)[]; }
export interface ThreadTextDelta { index: number; type: "text"; text: ThreadText; }
export interface ThreadTextPart { type: "text"; text: ThreadText; }
export interface ToolBundleCreate { name: string; slug: string; description?: string | null; tools?: (string)[]; }
export interface ToolBundleRead { id: string; tenant_id: string; name: string; slug: string; description: string | null; tools: (ToolBundleTool)[]; created_at: string; updated_at: string; }
export interface ToolBundleReadPage { items: (ToolBundleRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface ToolBundleTool { id: string; name: string; }
export interface ToolBundleUpdate { name?: string; slug?: string; description?: string | null; tools?: (string)[]; }
export interface ToolCall { id: string; name: string; arguments: unknown; }
export interface ToolCallEvent { id: string; message_id: string; call_id: string; name: string; state: "new" | "waiting_approval" | "approved" | "waiting_client" | "waiting_subtask" | "running" | "completed" | "failed" | "denied" | "cancelled" | "unknown"; arguments: unknown; }
export interface ToolConfig { method?: string | null; url?: string; headers?: Record<string, unknown> | null; body?: unknown; allowed_hosts?: (string)[] | null; tool?: string | null; statement?: string | null; read_only?: boolean | null; max_rows?: number | null; timeout_s?: number | null; }
export interface ToolCreate { name: string; kind: ToolKind; description?: string | null; input_schema?: Record<string, unknown> | null; requires_approval?: boolean; person_only?: boolean; repeat_safe?: boolean | null; grantable_by?: ToolGranter | null; config?: ToolConfig | null; }
export interface ToolImportMcp { url: string; headers?: Record<string, unknown> | null; prefix?: string | null; tools?: (string)[] | null; requires_approval?: boolean; }
export interface ToolImportResult { created: (ToolRead)[]; updated: (ToolRead)[]; removed: (ToolBundleTool)[]; skipped: (ToolImportSkipped)[]; }
export interface ToolImportSkipped { name: string; reason: string; }
export interface ToolRead { id: string; tenant_id: string; name: string; kind: ToolKind; description: string; input_schema: Record<string, unknown>; requires_approval: boolean; person_only: boolean; repeat_safe: boolean; grantable_by: ToolGranter; config: ToolConfig; is_seed: boolean; created_at: string; updated_at: string; }
export interface ToolReadPage { items: (ToolRead)[]; total?: number; page: number; per_page: number; next_after: string | null; }
export interface ToolTry { arguments?: Record<string, unknown> | null; }
export interface ToolTryResult { failed: boolean; text: string; was_cut: boolean; duration_ms: number; }
export interface ToolUpdate { name?: string; description?: string; input_schema?: Record<string, unknown>; requires_approval?: boolean; person_only?: boolean; repeat_safe?: boolean; grantable_by?: ToolGranter; config?: ToolConfig; }
export interface TranscriptEvent { type: string; delta?: string; text?: string; usage?: Record<string, unknown> | null; }
export interface Transcription { text: string; task?: string; language?: string; duration?: number | string; segments?: (Record<string, unknown>)[]; words?: (Record<string, unknown>)[]; usage?: Record<string, unknown> | null; }
export interface TranscriptionCreate { model: string; file: string; response_format?: string | null; language?: string | null; prompt?: string | null; temperature?: number | null; stream?: boolean | null; }
export interface UsageEvent { run_id: string; model_id: string; prompt_tokens: number; completion_tokens: number; cache_read_tokens: number; cache_write_tokens: number; cost_usd: number; }
export interface UsageSummary30d { requests: number; input_tokens: number; output_tokens: number; cache_read_tokens: number; cache_write_tokens: number; cost_usd: number; active_agents: number; active_users: number; }
export interface UserModelGrantRead { model_id: string; user_id: string; granted_by_id: string | null; created_at: string; }
export interface Version { version: string; }
export type BenchmarkHarness = "code_agent" | "chat" | "tool_use";
export type BudgetRule = "hold" | "refuse";
export type CallOutcome = "accepted" | "rejected";
export type DeliveryStatus = "rejected" | "blocked" | "accepted" | "delivered" | "failed";
export type HookOutcome = "accepted" | "duplicate" | "ping";
export type HoursRule = "hold" | "refuse" | "ignore";
export type IntegrationProvider = "github" | "gitlab" | "slack" | "stripe" | "linear" | "sentry" | "standard" | "generic";
export type MemoryScope = "private" | "shared";
export type MentionType = "agent" | "user" | "skill" | "tool" | "session";
export type MessagePartType = "image" | "file" | "audio";
export type ModelEndpoint = "chat" | "embeddings" | "speech" | "transcriptions";
export type ModelKind = "openai" | "openai_responses" | "anthropic" | "demo" | "router";
export type PromptSide = "repository" | "live";
export type ProposalStatus = "pending" | "approved" | "rejected" | "superseded" | "withdrawn";
export type RepoEntryKind = "file" | "program" | "link" | "folder" | "module";
export type RepoHost = "embedded" | "gitlab" | "gitea" | "git";
export type RepoProjection = "off" | "propose" | "auto";
export type SessionEventKind = "message" | "delta" | "tool_call" | "approval" | "status" | "usage" | "notice" | "session";
export type SessionStatus = "pending" | "running" | "waiting_approval" | "completed" | "failed" | "cancelled";
export type TenantStatus = "active" | "trial" | "abandoned" | "suspended" | "closed";
export type ToolGranter = "admins" | "members";
export type ToolKind = "builtin" | "http" | "mcp" | "sql";
export type WaitingFor = "hours" | "rate" | "budget";
export type AnthropicBlockParam = AnthropicTextParam | AnthropicImageParam | AnthropicDocumentParam | AnthropicThinkingParam | AnthropicRedactedBlock | AnthropicToolUseParam | AnthropicToolResultParam | { type: string; };
export type AnthropicContentBlock = AnthropicTextBlock | AnthropicThinkingBlock | AnthropicRedactedBlock | AnthropicToolUseBlock | { type: string; };
export type AnthropicDelta = AnthropicTextDelta | AnthropicThinkingDelta | AnthropicSignatureDelta | AnthropicInputDelta | AnthropicCitationsDelta | { type: string; };
export type AnthropicResultBlock = AnthropicTextParam | AnthropicImageParam | AnthropicDocumentParam | { type: string; };
export type AnthropicTool = AnthropicToolParam | { type: string; };
export type ChatContentPart = ChatTextPart | ChatImagePart | ChatAudioPart | ChatFilePart | ChatRefusalPart;
export type ChatFormat = TextFormat | JsonObjectFormat | ChatSchemaFormat;
export type ChatToolChoice = ChatToolNamed | "auto" | "none" | "required" | { type: string; };
export type ChatToolOffered = ChatTool | { type: string; };
export type EmbeddingInput = string | (string)[] | (number)[] | ((number)[])[];
export type ResponseContentPart = ResponseText | ResponseRefusal;
export type ResponseFormat = ResponsePlainFormat | ResponseObjectFormat | ResponseSchemaFormat;
export type ResponseInputItem = ResponseInputMessage | ResponseInputCall | ResponseCallOutput | ResponseInputReasoning | ResponseItemReference | ResponseApprovalAnswer | { type: string; };
export type ResponseInputPart = ResponseInputText | ResponseInputImage | ResponseInputFile | ResponseSaidText | ResponseSaidRefusal | { type: string; };
export type ResponseOutputItem = ResponseMessage | ResponseReasoning | ResponseFunctionCall | ResponseApprovalRequest | { type: string; };
export type ResponseTool = ResponseFunction | { type: string; };
export type ResponseToolChoice = ResponseFunctionNamed | "auto" | "none" | "required" | { type: string; };
export type RunStepDetails = RunStepWrites | RunStepCalls;
export type AnthropicStreamEvent = AnthropicMessageStart | AnthropicPing | AnthropicBlockStart | AnthropicBlockDelta | AnthropicBlockStop | AnthropicMessageDelta | AnthropicMessageStop | AnthropicProblem;
export type ChatCompletionStreamEvent = ChatCompletionChunk | OpenAIProblem | "[DONE]";
export type FeedStreamEvent = unknown | unknown | unknown | unknown | unknown | unknown | unknown | unknown | unknown | unknown | Record<string, unknown>;
export type ResponseStreamEvent = ResponseEvent | ResponseItemEvent | ResponsePartEvent | ResponseTextDelta | ResponseTextDone | ResponseRefusalDelta | ResponseRefusalDone | ResponseSummaryPartEvent | ResponseSummaryDelta | ResponseSummaryDone | ResponseArgumentsDelta | ResponseArgumentsDone;
export type RunStreamEvent = ThreadObject | RunObject | RunStepObject | RunStepDelta | ThreadMessageObject | ThreadMessageDelta | OpenAIProblem | "[DONE]";
export type SessionStreamEvent = MessageEvent | DeltaEvent | ToolCallEvent | ApprovalRead | StatusEvent | UsageEvent | NoticeEvent | SessionEvent;
export type SpeechStreamEvent = SpeechEvent | OpenAIProblem;
export type TranscriptStreamEvent = TranscriptEvent | OpenAIProblem;
export interface Operations {
  "GET /healthz": { path: {  }; query: {  }; body: undefined; reply: Health };
  "GET /readyz": { path: {  }; query: {  }; body: undefined; reply: Health };
  "GET /metrics": { path: {  }; query: {  }; body: undefined; reply: undefined };
  "GET /version": { path: {  }; query: {  }; body: undefined; reply: Version };
  "GET /openapi.json": { path: {  }; query: {  }; body: undefined; reply: unknown };
  "POST /auth/login": { path: {  }; query: {  }; body: LoginRequest; reply: LoginReply };
  "POST /auth/logout": { path: {  }; query: {  }; body: undefined; reply: undefined };
  "GET /me": { path: {  }; query: {  }; body: undefined; reply: Me };
  "PATCH /me": { path: {  }; query: {  }; body: MeUpdate; reply: Me };
  "POST /auth/accept-invite": { path: {  }; query: {  }; body: AcceptInvite; reply: LoginReply };
  "PUT /me/password": { path: {  }; query: {  }; body: PasswordChange; reply: undefined };
  "POST /auth/register": { path: {  }; query: {  }; body: RegisterRequest; reply: LetterAsked };
  "POST /auth/confirm": { path: {  }; query: {  }; body: RegisterConfirm; reply: LoginReply };
  "GET /me/invitations": { path: {  }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: InvitationReadPage };
  "POST /me/invitations/{tenant_id}": { path: { tenant_id: string; }; query: {  }; body: InvitationAnswer; reply: Membership };
  "POST /auth/reset": { path: {  }; query: {  }; body: ResetRequest; reply: LetterAsked };
  "POST /auth/reset/confirm": { path: {  }; query: {  }; body: ResetConfirm; reply: undefined };
  "GET /auth/ways": { path: {  }; query: {  }; body: undefined; reply: SignInWays };
  "GET /auth/oidc/{provider}/start": { path: { provider: string; }; query: { return_to?: string | null | undefined; }; body: undefined; reply: undefined };
  "GET /auth/oidc/{provider}/callback": { path: { provider: string; }; query: { code?: string | null | undefined; state?: string | null | undefined; error?: string | null | undefined; iss?: string | null | undefined; }; body: undefined; reply: undefined };
  "GET /tenants": { path: {  }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: TenantReadPage };
  "POST /tenants": { path: {  }; query: {  }; body: TenantCreate; reply: TenantRead };
  "GET /tenant/{tenant_id}": { path: { tenant_id: string; }; query: {  }; body: undefined; reply: TenantRead };
  "PATCH /tenant/{tenant_id}": { path: { tenant_id: string; }; query: {  }; body: TenantUpdate; reply: TenantRead };
  "DELETE /tenant/{tenant_id}": { path: { tenant_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/api-keys": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: ApiKeyReadPage };
  "POST /tenant/{tenant_id}/api-keys": { path: { tenant_id: string; }; query: {  }; body: ApiKeyCreate; reply: ApiKeyCreated };
  "GET /tenant/{tenant_id}/api-key-owners": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: ApiKeyOwnerReadPage };
  "DELETE /tenant/{tenant_id}/api-keys/{id}": { path: { tenant_id: string; id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/members": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: MemberReadPage };
  "POST /tenant/{tenant_id}/members": { path: { tenant_id: string; }; query: {  }; body: MemberAdd; reply: MemberAdded };
  "GET /tenant/{tenant_id}/members/{user_id}": { path: { tenant_id: string; user_id: string; }; query: {  }; body: undefined; reply: MemberRead };
  "PATCH /tenant/{tenant_id}/members/{user_id}": { path: { tenant_id: string; user_id: string; }; query: {  }; body: MemberUpdate; reply: MemberRead };
  "DELETE /tenant/{tenant_id}/members/{user_id}": { path: { tenant_id: string; user_id: string; }; query: {  }; body: undefined; reply: undefined };
  "DELETE /me/memberships/{tenant_id}": { path: { tenant_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/groups": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: GroupReadPage };
  "POST /tenant/{tenant_id}/groups": { path: { tenant_id: string; }; query: {  }; body: GroupCreate; reply: GroupRead };
  "GET /tenant/{tenant_id}/groups/{group_id}": { path: { tenant_id: string; group_id: string; }; query: {  }; body: undefined; reply: GroupRead };
  "PATCH /tenant/{tenant_id}/groups/{group_id}": { path: { tenant_id: string; group_id: string; }; query: {  }; body: GroupUpdate; reply: GroupRead };
  "DELETE /tenant/{tenant_id}/groups/{group_id}": { path: { tenant_id: string; group_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/groups/{group_id}/members": { path: { tenant_id: string; group_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: MemberReadPage };
  "PUT /tenant/{tenant_id}/groups/{group_id}/members/{user_id}": { path: { tenant_id: string; group_id: string; user_id: string; }; query: {  }; body: undefined; reply: MemberRead };
  "DELETE /tenant/{tenant_id}/groups/{group_id}/members/{user_id}": { path: { tenant_id: string; group_id: string; user_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/allowed-accounts": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AllowedAccountReadPage };
  "POST /tenant/{tenant_id}/allowed-accounts": { path: { tenant_id: string; }; query: {  }; body: AllowedAccountCreate; reply: AllowedAccountRead };
  "DELETE /tenant/{tenant_id}/allowed-accounts/{id}": { path: { tenant_id: string; id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /admin/plans": { path: {  }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: PlanReadPage };
  "POST /admin/plans": { path: {  }; query: {  }; body: PlanCreate; reply: PlanRead };
  "GET /admin/plans/{plan_id}": { path: { plan_id: string; }; query: {  }; body: undefined; reply: PlanRead };
  "PATCH /admin/plans/{plan_id}": { path: { plan_id: string; }; query: {  }; body: PlanUpdate; reply: PlanRead };
  "GET /admin/tenants": { path: {  }; query: { q?: string | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AdminTenantReadPage };
  "GET /admin/tenants/{tenant_id}": { path: { tenant_id: string; }; query: {  }; body: undefined; reply: AdminTenantDetailRead };
  "PATCH /admin/tenants/{tenant_id}": { path: { tenant_id: string; }; query: {  }; body: AdminTenantUpdate; reply: AdminTenantDetailRead };
  "GET /admin/deleted-tenants": { path: {  }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: DeletedTenantPage };
  "POST /admin/tenants/{tenant_id}/restore": { path: { tenant_id: string; }; query: {  }; body: undefined; reply: AdminTenantDetailRead };
  "GET /admin/users": { path: {  }; query: { q?: string | null | undefined; proven?: boolean | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AdminUserRowPage };
  "GET /admin/users/{user_id}": { path: { user_id: string; }; query: {  }; body: undefined; reply: AdminUserRow };
  "PATCH /admin/users/{user_id}": { path: { user_id: string; }; query: {  }; body: AdminUserUpdate; reply: AdminUserRow };
  "DELETE /admin/users/{user_id}": { path: { user_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /admin/users/{user_id}/reset-password": { path: { user_id: string; }; query: {  }; body: undefined; reply: PasswordLink };
  "POST /admin/users/{user_id}/unlock": { path: { user_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /admin/users/{user_id}/unlink": { path: { user_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /admin/users/{user_id}/prove": { path: { user_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /admin/queue": { path: {  }; query: { state?: "waiting" | "delayed" | "held" | "running" | "dead" | null | undefined; kind?: string | null | undefined; tenant_id?: string | null | undefined; after?: string | null | undefined; per_page?: number | undefined; }; body: undefined; reply: QueueRead };
  "POST /admin/queue/{job_id}/retry": { path: { job_id: string; }; query: {  }; body: undefined; reply: JobRead };
  "DELETE /admin/queue/{job_id}": { path: { job_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/mailboxes": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentMailboxRowPage };
  "GET /tenant/{tenant_id}/agents/{agent_id}/mailboxes/{mailbox_id}": { path: { tenant_id: string; agent_id: string; mailbox_id: string; }; query: {  }; body: undefined; reply: AgentMailboxRow };
  "PATCH /tenant/{tenant_id}/agents/{agent_id}/mailboxes/{mailbox_id}": { path: { tenant_id: string; agent_id: string; mailbox_id: string; }; query: {  }; body: MailboxUpdate; reply: AgentMailboxRow };
  "GET /tenant/{tenant_id}/agents/{agent_id}/mail": { path: { tenant_id: string; agent_id: string; }; query: { mailbox_id?: string | null | undefined; thread_id?: string | null | undefined; direction?: "in" | "out" | null | undefined; state?: "received" | "unreadable" | "held" | "draft" | "queued" | "sent" | "delivered" | "bounced" | "failed" | "blocked" | null | undefined; label?: string | null | undefined; unread?: boolean | null | undefined; q?: string | null | undefined; from?: string | null | undefined; to?: string | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: MailMessageReadPage };
  "POST /tenant/{tenant_id}/agents/{agent_id}/mail": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: MailCreate; reply: MailMessageRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}": { path: { tenant_id: string; agent_id: string; message_id: string; }; query: {  }; body: undefined; reply: MailMessageRead };
  "PATCH /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}": { path: { tenant_id: string; agent_id: string; message_id: string; }; query: {  }; body: MailUpdate; reply: MailMessageRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}": { path: { tenant_id: string; agent_id: string; message_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/raw": { path: { tenant_id: string; agent_id: string; message_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/reply": { path: { tenant_id: string; agent_id: string; message_id: string; }; query: {  }; body: MailReplyCreate; reply: MailMessageRead };
  "POST /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/forward": { path: { tenant_id: string; agent_id: string; message_id: string; }; query: {  }; body: MailForward; reply: MailMessageRead };
  "POST /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/send": { path: { tenant_id: string; agent_id: string; message_id: string; }; query: {  }; body: undefined; reply: MailMessageRead };
  "POST /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/send-again": { path: { tenant_id: string; agent_id: string; message_id: string; }; query: {  }; body: undefined; reply: MailMessageRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/mail/threads": { path: { tenant_id: string; agent_id: string; }; query: { mailbox_id?: string | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: MailThreadReadPage };
  "GET /tenant/{tenant_id}/agents/{agent_id}/mail/threads/{thread_id}": { path: { tenant_id: string; agent_id: string; thread_id: string; }; query: {  }; body: undefined; reply: MailThreadDetail };
  "GET /tenant/{tenant_id}/agents/{agent_id}/attachments": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentAttachmentRowPage };
  "GET /tenant/{tenant_id}/agents/{agent_id}/attachments/{attachment_id}/content": { path: { tenant_id: string; agent_id: string; attachment_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/mail/waiting": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: MailWaitingPage };
  "GET /tenant/{tenant_id}/agents/{agent_id}/mail/rules": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: MailRules };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/mail/rules": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: MailRules; reply: MailRules };
  "GET /tenant/{tenant_id}/mail/rules": { path: { tenant_id: string; }; query: {  }; body: undefined; reply: MailRules };
  "PUT /tenant/{tenant_id}/mail/rules": { path: { tenant_id: string; }; query: {  }; body: MailRules; reply: MailRules };
  "GET /tenant/{tenant_id}/mail/suppressions": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: MailSuppressionPage };
  "DELETE /tenant/{tenant_id}/mail/suppressions/{suppression_id}": { path: { tenant_id: string; suppression_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /hooks/mail/{domain}": { path: { domain: string; }; query: {  }; body: undefined; reply: MailIntakeAnswer };
  "GET /admin/mail/mailboxes": { path: {  }; query: { q?: string | null | undefined; tenant_id?: string | null | undefined; kind?: "internal" | "external" | null | undefined; paused?: boolean | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AdminMailboxRowPage };
  "GET /admin/mail/mailboxes/{mailbox_id}": { path: { mailbox_id: string; }; query: {  }; body: undefined; reply: AdminMailboxRow };
  "PATCH /admin/mail/mailboxes/{mailbox_id}": { path: { mailbox_id: string; }; query: {  }; body: AdminMailboxUpdate; reply: AdminMailboxRow };
  "POST /admin/mail/heal": { path: {  }; query: { dry_run?: boolean | undefined; }; body: AdminMailHealRequest; reply: AdminMailHealResult };
  "GET /tenant/{tenant_id}/agents": { path: { tenant_id: string; }; query: { q?: string | null | undefined; kind?: "user" | "coding" | "analyst" | "dba" | "schroeder" | null | undefined; favorite?: boolean | null | undefined; include_hidden?: boolean | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at" | undefined; }; body: undefined; reply: AgentListReadPage };
  "POST /tenant/{tenant_id}/agents": { path: { tenant_id: string; }; query: {  }; body: AgentCreate; reply: AgentRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentRead };
  "PATCH /tenant/{tenant_id}/agents/{agent_id}": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentUpdate; reply: AgentRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/roles": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentRoleAssignmentReadPage };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/roles/{user_id}": { path: { tenant_id: string; agent_id: string; user_id: string; }; query: {  }; body: AgentRoleAssignmentCreate; reply: AgentRoleAssignmentRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/roles/{user_id}": { path: { tenant_id: string; agent_id: string; user_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/roles/permissions": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentRolePermissionGrid };
  "GET /tenant/{tenant_id}/agents/{agent_id}/group-roles": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentRoleGroupGrantReadPage };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/group-roles/{group_id}": { path: { tenant_id: string; agent_id: string; group_id: string; }; query: {  }; body: AgentRoleGroupGrantCreate; reply: AgentRoleGroupGrantRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/group-roles/{group_id}": { path: { tenant_id: string; agent_id: string; group_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/default-role": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentDefaultRoleRead };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/default-role": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentDefaultRoleUpdate; reply: AgentDefaultRoleRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/users": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentUserGrantReadPage };
  "POST /tenant/{tenant_id}/agents/{agent_id}/users": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentUserGrant; reply: AgentUserGrantRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/users/{user_id}": { path: { tenant_id: string; agent_id: string; user_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /agents/grants": { path: {  }; query: {  }; body: AgentGrantRequest; reply: AgentUserGrantRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/access": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AccessView };
  "GET /tenant/{tenant_id}/agents/{agent_id}/access/{user_id}": { path: { tenant_id: string; agent_id: string; user_id: string; }; query: {  }; body: undefined; reply: AccessView };
  "POST /tenant/{tenant_id}/agents/{agent_id}/transfer-ownership": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentOwnershipTransfer; reply: AgentRead };
  "GET /admin/models": { path: {  }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: ModelReadPage };
  "POST /admin/models": { path: {  }; query: {  }; body: ModelCreate; reply: ModelRead };
  "GET /admin/models/{model_id}": { path: { model_id: string; }; query: {  }; body: undefined; reply: ModelRead };
  "PATCH /admin/models/{model_id}": { path: { model_id: string; }; query: {  }; body: AdminModelUpdate; reply: ModelRead };
  "PUT /admin/models/{model_id}/tenants/{tenant_id}": { path: { model_id: string; tenant_id: string; }; query: {  }; body: undefined; reply: ModelTenantRead };
  "DELETE /admin/models/{model_id}/tenants/{tenant_id}": { path: { model_id: string; tenant_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/models": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentModelReadPage };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/models": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: AgentModelChainUpdate; reply: AgentModelReadPage };
  "GET /tenant/{tenant_id}/agents/{agent_id}/models/catalog": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentCatalogModelPage };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/models/catalog/{model_id}": { path: { tenant_id: string; agent_id: string; model_id: string; }; query: {  }; body: undefined; reply: AgentCatalogToggle };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/models/catalog/{model_id}": { path: { tenant_id: string; agent_id: string; model_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /tenant/{tenant_id}/models/{model_id}/agents": { path: { tenant_id: string; model_id: string; }; query: {  }; body: AgentModelGrant; reply: AgentModelRead };
  "DELETE /tenant/{tenant_id}/models/{model_id}/agents/{agent_id}": { path: { tenant_id: string; model_id: string; agent_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/models": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: TenantModelPage };
  "GET /tenant/{tenant_id}/models/{model_id}/users/{user_id}": { path: { tenant_id: string; model_id: string; user_id: string; }; query: {  }; body: undefined; reply: UserModelGrantRead };
  "PUT /tenant/{tenant_id}/models/{model_id}/users/{user_id}": { path: { tenant_id: string; model_id: string; user_id: string; }; query: {  }; body: undefined; reply: UserModelGrantRead };
  "DELETE /tenant/{tenant_id}/models/{model_id}/users/{user_id}": { path: { tenant_id: string; model_id: string; user_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/sessions": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: TaskSessionReadPage };
  "POST /tenant/{tenant_id}/agents/{agent_id}/sessions": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: SessionCreate; reply: TaskSessionRead };
  "GET /me/sessions": { path: {  }; query: { tenant_id?: string | null | undefined; agent_id?: string | null | undefined; status?: SessionStatus | null | undefined; waiting?: boolean | undefined; q?: string | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: TaskSessionReadPage };
  "GET /tenant/{tenant_id}/sessions/{session_id}": { path: { tenant_id: string; session_id: string; }; query: {  }; body: undefined; reply: TaskSessionRead };
  "PATCH /tenant/{tenant_id}/sessions/{session_id}": { path: { tenant_id: string; session_id: string; }; query: {  }; body: SessionUpdate; reply: TaskSessionRead };
  "DELETE /tenant/{tenant_id}/sessions/{session_id}": { path: { tenant_id: string; session_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /tenant/{tenant_id}/sessions/{session_id}/branch": { path: { tenant_id: string; session_id: string; }; query: {  }; body: SessionBranch; reply: TaskSessionRead };
  "POST /tenant/{tenant_id}/sessions/{session_id}/cancel": { path: { tenant_id: string; session_id: string; }; query: {  }; body: SessionCancel; reply: TaskSessionRead };
  "GET /tenant/{tenant_id}/sessions/{session_id}/messages": { path: { tenant_id: string; session_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: TaskMessageReadPage };
  "POST /tenant/{tenant_id}/sessions/{session_id}/messages": { path: { tenant_id: string; session_id: string; }; query: {  }; body: MessageCreate; reply: TaskMessageRead };
  "GET /tenant/{tenant_id}/sessions/{session_id}/subtasks": { path: { tenant_id: string; session_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: SubtaskSummaryPage };
  "POST /tenant/{tenant_id}/sessions/{session_id}/subtasks": { path: { tenant_id: string; session_id: string; }; query: {  }; body: SubtaskCreate; reply: SubtaskSummary };
  "GET /tenant/{tenant_id}/sessions/{session_id}/subtasks/active": { path: { tenant_id: string; session_id: string; }; query: {  }; body: undefined; reply: ActiveSubtasksResponse };
  "GET /tenant/{tenant_id}/sessions/{session_id}/approvals": { path: { tenant_id: string; session_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: ApprovalReadPage };
  "POST /tenant/{tenant_id}/sessions/{session_id}/approvals/{approval_id}": { path: { tenant_id: string; session_id: string; approval_id: string; }; query: {  }; body: ApprovalDecision; reply: ApprovalRead };
  "GET /tenant/{tenant_id}/approvals": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: ApprovalReadPage };
  "GET /me/approvals": { path: {  }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: ApprovalReadPage };
  "GET /tenant/{tenant_id}/sessions/{session_id}/files": { path: { tenant_id: string; session_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: SessionFileReadPage };
  "POST /tenant/{tenant_id}/sessions/{session_id}/files": { path: { tenant_id: string; session_id: string; }; query: { name?: string | undefined; }; body: undefined; reply: SessionFileRead };
  "GET /tenant/{tenant_id}/sessions/{session_id}/files/{file_id}/content": { path: { tenant_id: string; session_id: string; file_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/sessions/{session_id}/calls": { path: { tenant_id: string; session_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: SessionCallReadPage };
  "GET /tenant/{tenant_id}/sessions/{session_id}/usage": { path: { tenant_id: string; session_id: string; }; query: {  }; body: undefined; reply: SessionUsage };
  "GET /tenant/{tenant_id}/sessions/{session_id}/export": { path: { tenant_id: string; session_id: string; }; query: { format?: "json" | "markdown" | undefined; }; body: undefined; reply: SessionExport };
  "GET /tenant/{tenant_id}/agents/{agent_id}/memories": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: MemoryReadPage };
  "POST /tenant/{tenant_id}/agents/{agent_id}/memories": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: MemoryCreate; reply: MemoryRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/memories/{memory_id}": { path: { tenant_id: string; agent_id: string; memory_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/sessions": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; agent_id?: string | null | undefined; user_id?: string | null | undefined; status?: SessionStatus | null | undefined; from?: string | null | undefined; to?: string | null | undefined; q?: string | null | undefined; }; body: undefined; reply: AuditSessionListResponse };
  "GET /tenant/{tenant_id}/sessions/{session_id}/audit": { path: { tenant_id: string; session_id: string; }; query: {  }; body: undefined; reply: AuditSessionDetailResponse };
  "GET /tenant/{tenant_id}/sessions/{session_id}/events": { path: { tenant_id: string; session_id: string; }; query: { after?: number | null | undefined; wait?: boolean | null | undefined; kind?: SessionEventKind | null | undefined; }; body: undefined; reply: undefined };
  "GET /me/events": { path: {  }; query: { tenant_id?: string | null | undefined; session_id?: string | null | undefined; wait?: boolean | null | undefined; }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/audit-logs": { path: { tenant_id: string; }; query: { user_id?: string | null | undefined; agent_id?: string | null | undefined; action?: string | null | undefined; resource_type?: string | null | undefined; from?: string | null | undefined; to?: string | null | undefined; format?: "json" | "ndjson" | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AuditLogReadPage };
  "GET /admin/audit-logs": { path: {  }; query: { user_id?: string | null | undefined; agent_id?: string | null | undefined; action?: string | null | undefined; resource_type?: string | null | undefined; from?: string | null | undefined; to?: string | null | undefined; format?: "json" | "ndjson" | undefined; tenant_id?: string | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AuditLogReadPage };
  "GET /tenant/{tenant_id}/billing/agent-costs": { path: { tenant_id: string; }; query: { period?: "24h" | "7d" | "30d" | "month" | null | undefined; from?: string | null | undefined; to?: string | null | undefined; format?: "json" | "csv" | undefined; }; body: undefined; reply: AgentCostsResponse };
  "GET /tenant/{tenant_id}/billing/timeseries": { path: { tenant_id: string; }; query: { period?: "24h" | "7d" | "30d" | "month" | null | undefined; from?: string | null | undefined; to?: string | null | undefined; bucket?: "hour" | "day" | undefined; by?: "agent" | "model" | undefined; }; body: undefined; reply: CostSeriesResponse };
  "POST /agents/{source_id}/clone": { path: { source_id: string; }; query: {  }; body: AgentClone; reply: AgentRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/export": { path: { tenant_id: string; agent_id: string; }; query: { sessions?: boolean | undefined; memories?: boolean | undefined; }; body: undefined; reply: undefined };
  "POST /tenant/{tenant_id}/agents/{agent_id}/export": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentExportRequest; reply: AgentExportResult };
  "POST /tenant/{tenant_id}/agents/import": { path: { tenant_id: string; }; query: { name?: string | null | undefined; dry_run?: boolean | undefined; }; body: unknown; reply: AgentImportResult };
  "POST /tenant/{tenant_id}/agents/import-from-bucket": { path: { tenant_id: string; }; query: {  }; body: AgentImportFromBucketRequest; reply: AgentImportResult };
  "POST /tenant/{tenant_id}/agents/import-from-bucket/dry-run": { path: { tenant_id: string; }; query: {  }; body: AgentImportFromBucketRequest; reply: AgentImportResult };
  "GET /tenant/{tenant_id}/agents/{agent_id}/budget": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentBudgetRead };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/budget": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentBudgetUpdate; reply: AgentBudgetRead };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/can-author-skills": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentCanAuthorSkillsUpdate; reply: AgentRead };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/skill-visibility-scope": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentSkillVisibilityScopeUpdate; reply: AgentSkillVisibilityScopeUpdate };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/favorite": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentFavoriteRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/favorite": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/integrations": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentIntegrationReadPage };
  "GET /tenant/{tenant_id}/agents/{agent_id}/chat-config": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentChatConfigRead };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/chat-config": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentChatConfigUpdate; reply: AgentChatConfigRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/avatar": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentAvatarRead };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/avatar": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentAvatarRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/avatar": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/avatar.png": { path: { tenant_id: string; agent_id: string; }; query: { v?: string | null | undefined; }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/repo": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentRepoRead };
  "POST /tenant/{tenant_id}/agents/{agent_id}/repo": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentRepoCreate; reply: AgentRead };
  "PATCH /tenant/{tenant_id}/agents/{agent_id}/repo": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentRepoUpdate; reply: AgentRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/repo": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentRead };
  "POST /tenant/{tenant_id}/agents/{agent_id}/image-repo": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentImageRepoRead };
  "POST /tenant/{tenant_id}/agents/{agent_id}/repo/push-hook": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentRepoHook };
  "POST /hooks/repositories/{repository_id}": { path: { repository_id: string; }; query: {  }; body: unknown; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/repo/refs": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentRepoRefs };
  "GET /tenant/{tenant_id}/agents/{agent_id}/code-ref": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentRead };
  "PATCH /tenant/{tenant_id}/agents/{agent_id}/code-ref": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentCodeRefUpdate; reply: AgentRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/repo/tree": { path: { tenant_id: string; agent_id: string; }; query: { ref?: string | null | undefined; path?: string | null | undefined; after?: string | null | undefined; per_page?: number | undefined; }; body: undefined; reply: RepoTree };
  "GET /tenant/{tenant_id}/agents/{agent_id}/repo/file": { path: { tenant_id: string; agent_id: string; }; query: { ref?: string | null | undefined; path?: string | undefined; }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/repo/commits": { path: { tenant_id: string; agent_id: string; }; query: { ref?: string | null | undefined; path?: string | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentPromptCommitReadPage };
  "GET /tenant/{tenant_id}/agents/{agent_id}/prompt-provenance": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: undefined; reply: AgentPromptProvenanceRead };
  "POST /tenant/{tenant_id}/agents/{agent_id}/prompt-provenance/resolve": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentPromptResolve; reply: AgentPromptProvenanceRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/prompt-proposals": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: PromptProposalRowPage };
  "GET /tenant/{tenant_id}/agents/{agent_id}/prompt-proposals/{proposal_id}": { path: { tenant_id: string; agent_id: string; proposal_id: string; }; query: {  }; body: undefined; reply: PromptProposalRead };
  "POST /tenant/{tenant_id}/agents/{agent_id}/prompt-proposals/{proposal_id}": { path: { tenant_id: string; agent_id: string; proposal_id: string; }; query: {  }; body: PromptProposalDecision; reply: PromptProposalRead };
  "GET /tenant/{tenant_id}/prompt-proposals": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: PromptProposalRowPage };
  "GET /tenant/{tenant_id}/autocomplete": { path: { tenant_id: string; }; query: { q?: string | undefined; types?: (MentionType)[] | null | undefined; limit?: number | undefined; }; body: undefined; reply: AutocompleteReply };
  "GET /tenant/{tenant_id}/bucket": { path: { tenant_id: string; }; query: { prefix?: string | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; sort?: "key" | "-key" | undefined; }; body: undefined; reply: BucketObjectPage };
  "GET /tenant/{tenant_id}/bucket/object": { path: { tenant_id: string; }; query: { key?: string | undefined; }; body: undefined; reply: undefined };
  "PUT /tenant/{tenant_id}/bucket/object": { path: { tenant_id: string; }; query: { key?: string | undefined; }; body: undefined; reply: BucketObject };
  "DELETE /tenant/{tenant_id}/bucket/object": { path: { tenant_id: string; }; query: { key?: string | undefined; }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/bucket/folder": { path: { tenant_id: string; }; query: { prefix?: string | null | undefined; after?: string | null | undefined; per_page?: number | undefined; }; body: undefined; reply: BucketFolder };
  "POST /tenant/{tenant_id}/bucket/presign": { path: { tenant_id: string; }; query: {  }; body: BucketPresign; reply: BucketPresigned };
  "GET /bucket/{tenant_id}/object": { path: { tenant_id: string; }; query: { key?: string | undefined; user?: string | undefined; api_key?: string | null | undefined; expires?: number | undefined; signature?: string | undefined; }; body: undefined; reply: undefined };
  "PUT /bucket/{tenant_id}/object": { path: { tenant_id: string; }; query: { key?: string | undefined; user?: string | undefined; api_key?: string | null | undefined; expires?: number | undefined; signature?: string | undefined; }; body: undefined; reply: BucketObject };
  "GET /tenant/{tenant_id}/skills": { path: { tenant_id: string; }; query: { q?: string | null | undefined; visibility?: "private" | "tenant" | "public" | null | undefined; agent_id?: string | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: SkillListReadPage };
  "POST /tenant/{tenant_id}/skills": { path: { tenant_id: string; }; query: {  }; body: SkillCreate; reply: SkillRead };
  "GET /tenant/{tenant_id}/skills/{skill_id}": { path: { tenant_id: string; skill_id: string; }; query: {  }; body: undefined; reply: SkillRead };
  "PATCH /tenant/{tenant_id}/skills/{skill_id}": { path: { tenant_id: string; skill_id: string; }; query: {  }; body: SkillUpdate; reply: SkillRead };
  "DELETE /tenant/{tenant_id}/skills/{skill_id}": { path: { tenant_id: string; skill_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /tenant/{tenant_id}/skills/import": { path: { tenant_id: string; }; query: { visibility?: "private" | "tenant" | "public" | null | undefined; replace?: boolean | undefined; }; body: undefined; reply: SkillRead };
  "GET /tenant/{tenant_id}/skills/{skill_id}/export": { path: { tenant_id: string; skill_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/skills/{skill_id}/SKILL.md": { path: { tenant_id: string; skill_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/skills/{skill_id}/file": { path: { tenant_id: string; skill_id: string; }; query: { path?: string | undefined; }; body: undefined; reply: undefined };
  "PUT /tenant/{tenant_id}/skills/{skill_id}/file": { path: { tenant_id: string; skill_id: string; }; query: { path?: string | undefined; }; body: undefined; reply: SkillFile };
  "DELETE /tenant/{tenant_id}/skills/{skill_id}/file": { path: { tenant_id: string; skill_id: string; }; query: { path?: string | undefined; }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/skills": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentSkillReadPage };
  "POST /tenant/{tenant_id}/agents/{agent_id}/skills": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentSkillGrant; reply: AgentSkillRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}": { path: { tenant_id: string; agent_id: string; skill_id: string; }; query: {  }; body: undefined; reply: AgentSkillRead };
  "PATCH /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}": { path: { tenant_id: string; agent_id: string; skill_id: string; }; query: {  }; body: AgentSkillUpdate; reply: AgentSkillRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}": { path: { tenant_id: string; agent_id: string; skill_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/config": { path: { tenant_id: string; agent_id: string; skill_id: string; }; query: {  }; body: undefined; reply: AgentSkillConfigRead };
  "PATCH /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/config": { path: { tenant_id: string; agent_id: string; skill_id: string; }; query: {  }; body: AgentSkillConfigUpdate; reply: AgentSkillConfigRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/skills/permissions": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentSkillPermissionReadPage };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/skills/permissions": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: AgentSkillPermissionUpdate; reply: AgentSkillPermissionReadPage };
  "GET /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/version": { path: { tenant_id: string; agent_id: string; skill_id: string; }; query: {  }; body: undefined; reply: AgentSkillVersion };
  "PUT /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/version": { path: { tenant_id: string; agent_id: string; skill_id: string; }; query: {  }; body: AgentSkillVersionUpdate; reply: AgentSkillVersion };
  "GET /tenant/{tenant_id}/tools": { path: { tenant_id: string; }; query: { q?: string | null | undefined; kind?: ToolKind | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: ToolReadPage };
  "POST /tenant/{tenant_id}/tools": { path: { tenant_id: string; }; query: {  }; body: ToolCreate; reply: ToolRead };
  "GET /tenant/{tenant_id}/tools/{tool_id}": { path: { tenant_id: string; tool_id: string; }; query: {  }; body: undefined; reply: ToolRead };
  "PATCH /tenant/{tenant_id}/tools/{tool_id}": { path: { tenant_id: string; tool_id: string; }; query: {  }; body: ToolUpdate; reply: ToolRead };
  "DELETE /tenant/{tenant_id}/tools/{tool_id}": { path: { tenant_id: string; tool_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /tenant/{tenant_id}/tools/import-mcp": { path: { tenant_id: string; }; query: {  }; body: ToolImportMcp; reply: ToolImportResult };
  "POST /tenant/{tenant_id}/tools/{tool_id}/try": { path: { tenant_id: string; tool_id: string; }; query: {  }; body: ToolTry; reply: ToolTryResult };
  "GET /tenant/{tenant_id}/agents/{agent_id}/tools": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentToolReadPage };
  "POST /tenant/{tenant_id}/agents/{agent_id}/tools": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentToolGrant; reply: AgentToolRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/tools/{tool_id}": { path: { tenant_id: string; agent_id: string; tool_id: string; }; query: {  }; body: undefined; reply: AgentToolRead };
  "PATCH /tenant/{tenant_id}/agents/{agent_id}/tools/{tool_id}": { path: { tenant_id: string; agent_id: string; tool_id: string; }; query: {  }; body: AgentToolUpdate; reply: AgentToolRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/tools/{tool_id}": { path: { tenant_id: string; agent_id: string; tool_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/tool-bundles": { path: { tenant_id: string; }; query: { q?: string | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: ToolBundleReadPage };
  "POST /tenant/{tenant_id}/tool-bundles": { path: { tenant_id: string; }; query: {  }; body: ToolBundleCreate; reply: ToolBundleRead };
  "GET /tenant/{tenant_id}/tool-bundles/{bundle_id}": { path: { tenant_id: string; bundle_id: string; }; query: {  }; body: undefined; reply: ToolBundleRead };
  "PATCH /tenant/{tenant_id}/tool-bundles/{bundle_id}": { path: { tenant_id: string; bundle_id: string; }; query: {  }; body: ToolBundleUpdate; reply: ToolBundleRead };
  "DELETE /tenant/{tenant_id}/tool-bundles/{bundle_id}": { path: { tenant_id: string; bundle_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/tool-bundles": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: AgentToolBundleReadPage };
  "POST /tenant/{tenant_id}/agents/{agent_id}/tool-bundles": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: AgentToolBundleGrantCreate; reply: AgentToolBundleRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/tool-bundles/{bundle_id}": { path: { tenant_id: string; agent_id: string; bundle_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/integrations": { path: { tenant_id: string; }; query: { agent_id?: string | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: IntegrationReadPage };
  "POST /tenant/{tenant_id}/integrations": { path: { tenant_id: string; }; query: {  }; body: IntegrationCreate; reply: IntegrationRead };
  "GET /tenant/{tenant_id}/integrations/{integration_id}": { path: { tenant_id: string; integration_id: string; }; query: {  }; body: undefined; reply: IntegrationRead };
  "PATCH /tenant/{tenant_id}/integrations/{integration_id}": { path: { tenant_id: string; integration_id: string; }; query: {  }; body: IntegrationUpdate; reply: IntegrationRead };
  "DELETE /tenant/{tenant_id}/integrations/{integration_id}": { path: { tenant_id: string; integration_id: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /tenant/{tenant_id}/integrations/{integration_id}/rotate-secret": { path: { tenant_id: string; integration_id: string; }; query: {  }; body: IntegrationRotate; reply: IntegrationRead };
  "GET /tenant/{tenant_id}/integrations/{integration_id}/deliveries": { path: { tenant_id: string; integration_id: string; }; query: { status?: DeliveryStatus | null | undefined; page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: DeliveryReadPage };
  "GET /tenant/{tenant_id}/deliveries/failed": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: DeliveryReadPage };
  "GET /tenant/{tenant_id}/integrations/{integration_id}/deliveries/{delivery_id}": { path: { tenant_id: string; integration_id: string; delivery_id: string; }; query: {  }; body: undefined; reply: DeliveryDetail };
  "POST /tenant/{tenant_id}/integrations/{integration_id}/test": { path: { tenant_id: string; integration_id: string; }; query: {  }; body: undefined; reply: DeliveryRead };
  "POST /tenant/{tenant_id}/integrations/{integration_id}/deliveries/{delivery_id}/redeliver": { path: { tenant_id: string; integration_id: string; delivery_id: string; }; query: {  }; body: undefined; reply: DeliveryRead };
  "GET /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/webhooks": { path: { tenant_id: string; agent_id: string; skill_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: SkillWebhookReadPage };
  "POST /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/webhooks": { path: { tenant_id: string; agent_id: string; skill_id: string; }; query: {  }; body: SkillWebhookCreate; reply: SkillWebhookRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/webhooks/{webhook_id}": { path: { tenant_id: string; agent_id: string; skill_id: string; webhook_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/webhooks/{webhook_id}/calls": { path: { tenant_id: string; agent_id: string; skill_id: string; webhook_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: SkillWebhookCallReadPage };
  "POST /hooks/{integration_id}": { path: { integration_id: string; }; query: {  }; body: unknown; reply: HookAnswer };
  "POST /hooks/skills/{webhook_id}": { path: { webhook_id: string; }; query: {  }; body: unknown; reply: SkillHookAnswer };
  "GET /tenant/{tenant_id}/scanner": { path: { tenant_id: string; }; query: {  }; body: undefined; reply: ScannerRead };
  "PUT /tenant/{tenant_id}/scanner": { path: { tenant_id: string; }; query: {  }; body: ScannerUpdate; reply: ScannerRead };
  "DELETE /tenant/{tenant_id}/scanner": { path: { tenant_id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/scanner/repositories": { path: { tenant_id: string; }; query: {  }; body: undefined; reply: ScannerRepositoryListResponse };
  "GET /tenant/{tenant_id}/agents/{agent_id}/scanner-grants": { path: { tenant_id: string; agent_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: ScannerGrantReadPage };
  "POST /tenant/{tenant_id}/agents/{agent_id}/scanner-grants": { path: { tenant_id: string; agent_id: string; }; query: {  }; body: ScannerGrantCreate; reply: ScannerGrantRead };
  "DELETE /tenant/{tenant_id}/agents/{agent_id}/scanner-grants/{id}": { path: { tenant_id: string; agent_id: string; id: string; }; query: {  }; body: undefined; reply: undefined };
  "GET /tenant/{tenant_id}/provider-keys": { path: { tenant_id: string; }; query: { page?: number | undefined; per_page?: number | undefined; after?: string | undefined; total?: boolean | undefined; }; body: undefined; reply: ProviderKeyReadPage };
  "GET /tenant/{tenant_id}/provider-keys/{provider}": { path: { tenant_id: string; provider: string; }; query: {  }; body: undefined; reply: ProviderKeyRead };
  "PUT /tenant/{tenant_id}/provider-keys/{provider}": { path: { tenant_id: string; provider: string; }; query: {  }; body: ProviderKeyPut; reply: ProviderKeyRead };
  "DELETE /tenant/{tenant_id}/provider-keys/{provider}": { path: { tenant_id: string; provider: string; }; query: {  }; body: undefined; reply: undefined };
  "POST /v1/chat/completions": { path: {  }; query: {  }; body: ChatCompletionCreate; reply: ChatCompletion };
  "GET /v1/models": { path: {  }; query: {  }; body: undefined; reply: OpenAIModelList };
  "GET /v1/models/{model}": { path: { model: string; }; query: {  }; body: undefined; reply: OpenAIModel };
  "POST /v1/embeddings": { path: {  }; query: {  }; body: EmbeddingCreate; reply: EmbeddingList };
  "POST /v1/audio/speech": { path: {  }; query: {  }; body: SpeechCreate; reply: undefined };
  "POST /v1/audio/transcriptions": { path: {  }; query: {  }; body: undefined; reply: Transcription };
  "GET /tenant/{tenant_id}/sessions/{session_id}/messages/{message_id}/speech": { path: { tenant_id: string; session_id: string; message_id: string; }; query: { voice?: string | undefined; response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm" | undefined; }; body: undefined; reply: undefined };
  "GET /v1/assistants": { path: {  }; query: { limit?: number | undefined; order?: "asc" | "desc" | undefined; after?: string | null | undefined; before?: string | null | undefined; }; body: undefined; reply: AssistantList };
  "POST /v1/assistants": { path: {  }; query: {  }; body: AssistantCreate; reply: AssistantObject };
  "GET /v1/assistants/{assistant_id}": { path: { assistant_id: string; }; query: {  }; body: undefined; reply: AssistantObject };
  "POST /v1/assistants/{assistant_id}": { path: { assistant_id: string; }; query: {  }; body: AssistantUpdate; reply: AssistantObject };
  "DELETE /v1/assistants/{assistant_id}": { path: { assistant_id: string; }; query: {  }; body: undefined; reply: OpenAIDeleted };
  "POST /v1/threads": { path: {  }; query: {  }; body: ThreadCreate; reply: ThreadObject };
  "GET /v1/threads/{thread_id}": { path: { thread_id: string; }; query: {  }; body: undefined; reply: ThreadObject };
  "POST /v1/threads/{thread_id}": { path: { thread_id: string; }; query: {  }; body: OpenAIMetadataUpdate; reply: ThreadObject };
  "DELETE /v1/threads/{thread_id}": { path: { thread_id: string; }; query: {  }; body: undefined; reply: OpenAIDeleted };
  "GET /v1/threads/{thread_id}/messages": { path: { thread_id: string; }; query: { limit?: number | undefined; order?: "asc" | "desc" | undefined; after?: string | null | undefined; before?: string | null | undefined; run_id?: string | null | undefined; }; body: undefined; reply: ThreadMessageList };
  "POST /v1/threads/{thread_id}/messages": { path: { thread_id: string; }; query: {  }; body: ThreadMessageCreate; reply: ThreadMessageObject };
  "GET /v1/threads/{thread_id}/messages/{message_id}": { path: { thread_id: string; message_id: string; }; query: {  }; body: undefined; reply: ThreadMessageObject };
  "POST /v1/threads/{thread_id}/messages/{message_id}": { path: { thread_id: string; message_id: string; }; query: {  }; body: OpenAIMetadataUpdate; reply: ThreadMessageObject };
  "DELETE /v1/threads/{thread_id}/messages/{message_id}": { path: { thread_id: string; message_id: string; }; query: {  }; body: undefined; reply: OpenAIDeleted };
  "POST /v1/threads/runs": { path: {  }; query: {  }; body: RunCreate; reply: RunObject };
  "GET /v1/threads/{thread_id}/runs": { path: { thread_id: string; }; query: { limit?: number | undefined; order?: "asc" | "desc" | undefined; after?: string | null | undefined; before?: string | null | undefined; }; body: undefined; reply: RunList };
  "POST /v1/threads/{thread_id}/runs": { path: { thread_id: string; }; query: {  }; body: RunCreate; reply: RunObject };
  "GET /v1/threads/{thread_id}/runs/{run_id}": { path: { thread_id: string; run_id: string; }; query: {  }; body: undefined; reply: RunObject };
  "POST /v1/threads/{thread_id}/runs/{run_id}": { path: { thread_id: string; run_id: string; }; query: {  }; body: OpenAIMetadataUpdate; reply: RunObject };
  "POST /v1/threads/{thread_id}/runs/{run_id}/cancel": { path: { thread_id: string; run_id: string; }; query: {  }; body: undefined; reply: RunObject };
  "POST /v1/threads/{thread_id}/runs/{run_id}/submit_tool_outputs": { path: { thread_id: string; run_id: string; }; query: {  }; body: RunToolOutputs; reply: RunObject };
  "GET /v1/threads/{thread_id}/runs/{run_id}/steps": { path: { thread_id: string; run_id: string; }; query: { limit?: number | undefined; order?: "asc" | "desc" | undefined; after?: string | null | undefined; before?: string | null | undefined; }; body: undefined; reply: RunStepList };
  "GET /v1/threads/{thread_id}/runs/{run_id}/steps/{step}": { path: { thread_id: string; run_id: string; step: string; }; query: {  }; body: undefined; reply: RunStepObject };
  "POST /v1/responses": { path: {  }; query: {  }; body: ResponseCreate; reply: ResponseObject };
  "GET /v1/responses/{response_id}": { path: { response_id: string; }; query: {  }; body: undefined; reply: ResponseObject };
  "DELETE /v1/responses/{response_id}": { path: { response_id: string; }; query: {  }; body: undefined; reply: OpenAIDeleted };
  "POST /v1/responses/{response_id}/cancel": { path: { response_id: string; }; query: {  }; body: undefined; reply: ResponseObject };
  "GET /v1/responses/{response_id}/input_items": { path: { response_id: string; }; query: { limit?: number | undefined; order?: "asc" | "desc" | undefined; after?: string | null | undefined; before?: string | null | undefined; }; body: undefined; reply: ResponseItemList };
  "POST /v1/conversations": { path: {  }; query: {  }; body: ConversationCreate; reply: ConversationObject };
  "GET /v1/conversations/{conversation}": { path: { conversation: string; }; query: {  }; body: undefined; reply: ConversationObject };
  "POST /v1/conversations/{conversation}": { path: { conversation: string; }; query: {  }; body: OpenAIMetadataUpdate; reply: ConversationObject };
  "DELETE /v1/conversations/{conversation}": { path: { conversation: string; }; query: {  }; body: undefined; reply: OpenAIDeleted };
  "GET /v1/conversations/{conversation}/items": { path: { conversation: string; }; query: { limit?: number | undefined; order?: "asc" | "desc" | undefined; after?: string | null | undefined; }; body: undefined; reply: ResponseItemList };
  "POST /v1/conversations/{conversation}/items": { path: { conversation: string; }; query: {  }; body: ConversationItemsCreate; reply: ResponseItemList };
  "GET /v1/conversations/{conversation}/items/{item}": { path: { conversation: string; item: string; }; query: {  }; body: undefined; reply: ConversationItem };
  "DELETE /v1/conversations/{conversation}/items/{item}": { path: { conversation: string; item: string; }; query: {  }; body: undefined; reply: ConversationObject };
  "POST /v1/messages": { path: {  }; query: {  }; body: AnthropicMessageCreate; reply: AnthropicMessage };
  "POST /v1/messages/count_tokens": { path: {  }; query: {  }; body: AnthropicTokensAsked; reply: AnthropicTokens };
}
