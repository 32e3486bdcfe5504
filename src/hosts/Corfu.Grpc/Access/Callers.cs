using Grpc.Core;
using Microsoft.AspNetCore.Http;

namespace Corfu.Grpc;

/// <summary>Names callers for limits, messages and what they own.</summary>
internal static class Callers
{
    /// <summary>Limits count by it: the certificate's role and name, the user's name, or the address.</summary>
    public static string NameOf(HttpContext http) =>
        OwnerOf(http) is { Length: > 0 } owner ? owner : http.Connection.RemoteIpAddress?.ToString() ?? "unknown";

    public static string NameOf(ServerCallContext context) => NameOf(context.GetHttpContext());

    /// <summary>The owner of sessions and request ids: other owners' are not found. Empty where nothing authenticates
    /// callers, whose address may be another at the next call.</summary>
    public static string OwnerOf(HttpContext http) => CorfuClaims.PrincipalOf(http.User) is { } principal
        ? principal.ToString()
        : http.User.Identity is { IsAuthenticated: true, Name: { Length: > 0 } name } ? $"user/{name}" : "";

    public static string OwnerOf(ServerCallContext context) => OwnerOf(context.GetHttpContext());
}
