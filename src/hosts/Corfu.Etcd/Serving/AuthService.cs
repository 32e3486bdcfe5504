using Corfu.Etcd.Translation;
using Grpc.Core;

namespace Corfu.Etcd.Serving;

/// <summary>Answers as an etcd without users: certificates say who may connect.</summary>
internal sealed class AuthService(StoreAccess access) : Auth.AuthBase
{
    public override Task<AuthEnableResponse> AuthEnable(AuthEnableRequest request, ServerCallContext context) =>
        throw EtcdErrors.RootUserNotExist;

    public override Task<AuthDisableResponse> AuthDisable(AuthDisableRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(AuthDisable), context, static (served, _) =>
            Task.FromResult(new AuthDisableResponse { Header = served.Header() }));

    public override Task<AuthStatusResponse> AuthStatus(AuthStatusRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(AuthStatus), context, static (served, _) =>
            Task.FromResult(new AuthStatusResponse { Header = served.Header(), AuthRevision = 1 }));

    public override Task<AuthenticateResponse> Authenticate(
        AuthenticateRequest request, ServerCallContext context) => throw EtcdErrors.AuthNotEnabled;

    public override Task<AuthUserListResponse> UserList(AuthUserListRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(UserList), context, static (served, _) =>
            Task.FromResult(new AuthUserListResponse { Header = served.Header() }));

    public override Task<AuthRoleListResponse> RoleList(AuthRoleListRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(RoleList), context, static (served, _) =>
            Task.FromResult(new AuthRoleListResponse { Header = served.Header() }));
}
