using System.Net.Security;
using Salus.Nbd.Exports;
using Salus.Nbd.Limits;

namespace Salus.Nbd;

/// <summary>Parts that the connections of a server share.</summary>
/// <param name="Bytes">Memory of all connections' commands.</param>
/// <param name="Tls">Null: connections are not encrypted. Otherwise every client starts TLS first.</param>
internal sealed record NbdServices(NbdServerOptions Options, ExportTable Exports, ByteBudget Bytes,
    Func<SslServerAuthenticationOptions>? Tls, ILogger Logger, TimeProvider Time);
