using Microsoft.AspNetCore.Authorization;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>Asks the access file.</summary>
internal sealed record AccessRequirement(AccessRight Right) : IAuthorizationRequirement;

/// <summary>The default policies: by the caller's role and the access file.</summary>
internal sealed class AccessHandler(AccessFile file) : AuthorizationHandler<AccessRequirement>
{
    protected override Task HandleRequirementAsync(
        AuthorizationHandlerContext context, AccessRequirement requirement)
    {
        if (CorfuClaims.PrincipalOf(context.User) is { } caller
            && file.Current.Allows(caller, requirement.Right, context.Resource as CorfuResource))
            context.Succeed(requirement);
        return Task.CompletedTask;
    }
}

/// <summary>Adds the default policies, where the host has none of its own.</summary>
internal sealed class DefaultPolicies : IPostConfigureOptions<AuthorizationOptions>
{
    public void PostConfigure(string? name, AuthorizationOptions options)
    {
        foreach (var policy in CorfuPolicies.All)
        {
            if (options.GetPolicy(policy) is null)
                options.AddPolicy(policy, own => own.AddRequirements(new AccessRequirement(RightOf(policy))));
        }
    }

    private static AccessRight RightOf(string policy) => policy switch
    {
        CorfuPolicies.Caller => AccessRight.Caller,
        CorfuPolicies.Read => AccessRight.Read,
        CorfuPolicies.Write => AccessRight.Write,
        CorfuPolicies.Trim => AccessRight.Trim,
        CorfuPolicies.ClusterRead => AccessRight.ClusterRead,
        _ => AccessRight.ClusterChange,
    };
}
