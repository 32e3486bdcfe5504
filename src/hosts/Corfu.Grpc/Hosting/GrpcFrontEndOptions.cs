using System.Text;
using System.Text.Json;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>A front end with a listener of its own.</summary>
/// <param name="Listen">An IP address or <c>localhost</c>.</param>
/// <param name="Connection">The cluster, as <see cref="Client.ConnectionString"/>.</param>
public sealed record GrpcFrontEndOptions(NodeEndpoint Listen, string Connection)
{
    // Set by Allow, or by who starts the front end.
    private static readonly string[] s_notLimits =
    [
        nameof(CorfuGrpcOptions.AllowAdmin), nameof(CorfuGrpcOptions.AllowTrims),
        nameof(CorfuGrpcOptions.AllowObjectAppends), nameof(CorfuGrpcOptions.RequireRights),
        nameof(CorfuGrpcOptions.AccessFile),
    ];

    /// <summary>Without TLS, further rights of all callers beside reading and appending: <c>admin</c>, <c>trims</c>,
    /// <c>objects</c>, as the options of <see cref="CorfuGrpcOptions"/>. Default: none.</summary>
    public IReadOnlyCollection<string> Allow { get; init; } = [];

    /// <summary>Certificates of the front end and of its callers, who then need the rights that
    /// <see cref="MethodAccess"/> names. Default null: no TLS, and nothing authenticates callers.</summary>
    public ClusterTls? Tls { get; init; }

    /// <inheritdoc cref="CorfuGrpcOptions.AccessFile"/>
    public string? AccessFile { get; init; }

    /// <summary>Options of <see cref="CorfuGrpcOptions"/>, with names in camel case. Default: none.</summary>
    public JsonElement? Limits { get; init; }

    /// <summary>The client that serves calls. Default: an ordinary one.</summary>
    public Client.CorfuClientOptions Client { get; init; } = new();

    /// <summary>A client with the right to change the cluster, opened for one change at a time after its caller was
    /// checked. Default null: <see cref="Client"/> changes the cluster.</summary>
    public Client.CorfuClientOptions? AdminClient { get; init; }

    /// <exception cref="FrontEndStartException">An option is malformed, or out of range.</exception>
    internal void Configure(CorfuGrpcOptions options)
    {
        foreach (var what in Allow)
        {
            switch (what)
            {
                case "admin":
                    options.AllowAdmin = true;
                    break;
                case "trims":
                    options.AllowTrims = true;
                    break;
                case "objects":
                    options.AllowObjectAppends = true;
                    break;
                default:
                    throw new FrontEndStartException(
                        $"A gRPC front end can allow 'admin', 'trims' and 'objects', not '{what}'.");
            }
        }

        (options.RequireRights, options.AccessFile) = (Tls is not null, AccessFile);
        if (Limits is { } limits) Bind(limits, options);
        if (CorfuGrpcOptions.Rules.FaultsOf(options) is { Count: > 0 } faults)
            throw new FrontEndStartException($"limits.grpc: {string.Join(' ', faults)}");
    }

    internal void AddTo(IServiceCollection services)
    {
        services.AddCorfuClient(settings =>
        {
            settings.ConnectionString = Connection;
            settings.Client = Client;
            settings.ConnectTimeout = TimeSpan.Zero;
        });
        if (AdminClient is { } own) services.AddSingleton(new AdminClient(Connection, own));
    }

    private static void Bind(JsonElement limits, CorfuGrpcOptions options)
    {
        if (limits.ValueKind != JsonValueKind.Object)
            throw new FrontEndStartException("limits.grpc: it is not an object of names and values.");
        foreach (var one in limits.EnumerateObject())
        {
            if (s_notLimits.Contains(one.Name, StringComparer.OrdinalIgnoreCase))
                throw new FrontEndStartException(
                    $"limits.grpc: '{one.Name}' is no limit. The front end's 'allow' has what all callers may do.");
        }

        try
        {
            using var json = new MemoryStream(Encoding.UTF8.GetBytes(limits.GetRawText()));
            new ConfigurationBuilder().AddJsonStream(json).Build()
                .Bind(options, static binder => binder.ErrorOnUnknownConfiguration = true);
        }
        catch (Exception e) when (e is InvalidOperationException or FormatException or InvalidDataException)
        {
            throw new FrontEndStartException($"limits.grpc: {e.Message} {e.InnerException?.Message}".TrimEnd(), e);
        }
    }
}

/// <summary>How a client is opened that may change the cluster.</summary>
internal sealed record AdminClient(string Connection, Client.CorfuClientOptions Options);
