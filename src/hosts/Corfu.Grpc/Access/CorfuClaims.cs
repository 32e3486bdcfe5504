using System.Security.Claims;

namespace Corfu.Grpc;

/// <summary>The marks by which the default policies know a caller: its name, and one claim with its role.</summary>
public static class CorfuClaims
{
    /// <summary>Type of the claim whose value is <c>caller</c>, <c>client</c>, <c>admin</c> or <c>node</c>.</summary>
    public const string Role = "corfu:role";

    /// <summary>The scheme that authenticates callers by the certificates of their connections.</summary>
    public const string Scheme = "corfu-certificate";

    /// <summary>A user for the holder of a certificate. A host that authenticates by tokens makes one from them
    /// likewise.</summary>
    public static ClaimsPrincipal UserOf(Principal principal)
    {
        ArgumentNullException.ThrowIfNull(principal);
        return new ClaimsPrincipal(new ClaimsIdentity(
            [
                new Claim(ClaimTypes.Name, principal.Name),
                new Claim(Role, principal.Role.ToString().ToLowerInvariant()),
            ],
            Scheme));
    }

    /// <summary>The caller; null: the user is not authenticated, or has no name, no role or more than one.</summary>
    public static Principal? PrincipalOf(ClaimsPrincipal user)
    {
        ArgumentNullException.ThrowIfNull(user);
        Principal? found = null;
        foreach (var identity in user.Identities)
        {
            // Claims of an identity that nothing has authenticated prove nothing.
            if (!identity.IsAuthenticated) continue;
            foreach (var claim in identity.FindAll(Role))
            {
                if (found is not null || identity.Name is not { Length: > 0 } name) return null;
                if (RoleOf(claim.Value) is not { } role) return null;
                found = new Principal(role, name);
            }
        }

        return found;
    }

    private static AccessRole? RoleOf(string text) => text switch
    {
        "caller" => AccessRole.Caller,
        "client" => AccessRole.Client,
        "admin" => AccessRole.Admin,
        "node" => AccessRole.Node,
        _ => null,
    };
}
