using Corfu.Server;
using Microsoft.AspNetCore.Connections;

namespace Microsoft.AspNetCore.Server.Kestrel.Core;

/// <summary>Binds a Kestrel endpoint to the roles of this process.</summary>
public static class CorfuListenOptionsExtensions
{
    /// <summary>Serves the protocol on this endpoint. Terminal: connection middleware such as <c>UseHttps</c> comes
    /// before it. Kestrel's HTTP limits do not apply; <see cref="ServerTransportOptions"/> does.</summary>
    public static ListenOptions UseCorfu(this ListenOptions listen, RoleRegistry registry)
    {
        listen.Run(registry.ServeAsync);
        return listen;
    }
}
