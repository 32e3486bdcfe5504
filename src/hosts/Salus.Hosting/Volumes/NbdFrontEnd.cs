using Corfu.Server;

namespace Salus.Hosting;

/// <summary>NBD as a front end of a node process: every volume of the log, with its snapshots.</summary>
public sealed class NbdFrontEnd : IFrontEnd
{
    public const string KindName = "nbd";

    public string Kind => KindName;

    public async Task<IAsyncDisposable> StartAsync(FrontEndStart start, CancellationToken cancellationToken)
    {
        try
        {
            return await VolumeServer.StartAsync(
                new VolumeServerOptions(start.Connection, [], start.EndPoint)
                {
                    Client = SalusClientOptions.Default with { Owner = $"the NBD port {start.Listen}" },
                    Tls = start.Tls,
                    ClientTls = start.Tls,
                    // The node's own rules have allowed the address.
                    Insecure = start.Tls is null,
                    Loggers = start.Loggers,
                }, cancellationToken);
        }
        catch (ListenException e)
        {
            throw new CorfuException(e.Message, e);
        }
    }
}
