using Craq.Connecting;
using Microsoft.Extensions.Logging;

namespace Craq;

public sealed partial class CraqClient
{
    /// <summary>Connects over TCP. The client owns its connections.</summary>
    /// <param name="connection">As <see cref="CraqConnectionString"/>.</param>
    /// <exception cref="FormatException">The connection string is malformed.</exception>
    /// <exception cref="CertificateException">The certificates are missing or of no use, or connections to another
    /// machine would not be encrypted.</exception>
    /// <exception cref="CraqNotFoundException">No CRAQ node answers at its endpoints.</exception>
    public static async Task<CraqClient> ConnectAsync(string connection, CraqClientOptions? options = null,
        ILogger? logger = null, CancellationToken cancellationToken = default)
    {
        var parsed = CraqConnectionString.Parse(connection);
        options = Of(parsed, options);
        var tcp = CraqTls.Apply(parsed, options.Tcp, options.Tls, out var tls, logger);
        TcpTransport? transport = null;
        try
        {
            FoundNodes found;
            using (var discovery = new TcpTransport(tcp, logger: logger))
                found = await NodeFinder.FindAsync(
                    parsed.Endpoints, discovery, TimeProvider.System, cancellationToken);
            transport = new TcpTransport(tcp with { Cluster = found.Cluster }, logger: logger);
            return new CraqClient(found.Nodes, parsed.Endpoints, transport, TimeProvider.System,
                SystemEntropy.Instance, options, logger, null)
            {
                _ownedTransport = transport,
                _ownedTls = tls,
            };
        }
        catch
        {
            transport?.Dispose();
            tls?.Dispose();
            throw;
        }
    }

    /// <summary>Connects over any transport, which stays the caller's.</summary>
    /// <param name="loops">Runs the work that callers share. Null: the thread pool.</param>
    /// <exception cref="CraqNotFoundException">No CRAQ node answers at the endpoints.</exception>
    public static async Task<CraqClient> ConnectAsync(CraqConnectionString connection, ITransport transport,
        TimeProvider time, IEntropy entropy, CraqClientOptions? options = null, ILogger? logger = null,
        LoopContext? loops = null, CancellationToken cancellationToken = default)
    {
        options = Of(connection, options);
        var found = await NodeFinder.FindAsync(connection.Endpoints, transport, time, cancellationToken);
        return new CraqClient(
            found.Nodes, connection.Endpoints, transport, time, entropy, options, logger, loops);
    }

    private static CraqClientOptions Of(CraqConnectionString connection, CraqClientOptions? options)
    {
        options ??= CraqClientOptions.Default;
        options.Validate();
        return connection.Datacenter is { } datacenter ? options with { Datacenter = datacenter } : options;
    }
}
