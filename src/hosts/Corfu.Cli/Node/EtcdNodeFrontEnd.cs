using System.Text.Json;
using Corfu.Etcd.Hosting;
using Corfu.Server;

namespace Corfu.Cli;

/// <summary>Etcd v3 as a front end of a node process.</summary>
internal sealed class EtcdNodeFrontEnd : IFrontEnd
{
    public const string KindName = "etcd";

    public string Kind => KindName;

    public bool HasSettings => true;

    public async Task<IAsyncDisposable> StartAsync(FrontEndStart start, CancellationToken cancellationToken)
    {
        var settings = EtcdNodeSettings.Read(start.Settings);
        var options = new EtcdFrontEndOptions(start.EndPoint)
        {
            Service = settings.Service,
            Advertise = settings.Advertise,
            // While the cluster moves to TLS, clients do not have to follow yet.
            Tls = start.Tls is { Mode: TlsMode.Required } own ? own : null,
            Limits = start.Limits is { } limits ? EtcdLimits.Read(limits) : new EtcdLimits(),
            Loggers = start.Loggers,
        };
        var client = start.Tls is { } tls
            ? new CorfuClientOptions { Tcp = new TcpTransportOptions { Tls = tls, Role = AccessRole.Client } }
            : new CorfuClientOptions();
        try
        {
            return new Running(await EtcdServer.StartAsync(start.Connection, client, options, cancellationToken));
        }
        catch (ListenException e)
        {
            throw new CorfuException(e.Message, e);
        }
    }

    /// <summary>Addresses for clients of etcd, with commas between; null: there are none.</summary>
    public static string? AddressesIn(ClusterState state) =>
        string.Join(',', state.FrontEndsOf(KindName)) is { Length: > 0 } addresses ? addresses : null;

    private sealed class Running(EtcdServer server) : IAsyncDisposable, IFrontEndHealth
    {
        public string? Fault => server.Fault;

        public ValueTask DisposeAsync() => server.DisposeAsync();
    }
}

/// <summary><c>settings</c> of a node's front end of etcd v3, as the options of <c>corfu etcd</c>.</summary>
internal sealed record EtcdNodeSettings
{
    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = System.Text.Json.Serialization.JsonUnmappedMemberHandling.Disallow,
    };

    public string Service { get; init; } = "main";

    public string? Advertise { get; init; }

    /// <param name="json">Null: the defaults.</param>
    /// <exception cref="CorfuException">A name is unknown, or a value is not allowed.</exception>
    public static EtcdNodeSettings Read(JsonElement? json)
    {
        try
        {
            var settings = json?.Deserialize<EtcdNodeSettings>(s_json) ?? new EtcdNodeSettings();
            return string.IsNullOrEmpty(settings.Service)
                ? throw new CorfuException("The front end etcd: settings.service is empty.")
                : settings;
        }
        catch (JsonException e)
        {
            throw new CorfuException($"The front end etcd: settings: {e.Message}", e);
        }
    }
}
