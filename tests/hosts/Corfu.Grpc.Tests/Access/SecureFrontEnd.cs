using System.Net;
using Corfu.Client;
using Corfu.Extensions;
using Corfu.Grpc.Client;
using Corfu.Grpc.Protocol.Admin.V1;
using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Grpc.Protocol.Tango.V1;
using Corfu.Grpc.Tests.Tango;
using Corfu.Protocol;
using Corfu.Transport;
using global::Grpc.Core;
using global::Grpc.Net.Client;
using global::Tango;
using global::Tango.Testing;
using Google.Rpc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Grpc.Tests.Access;

/// <summary>A front end over TLS, with a log and objects in memory, and callers with certificates.</summary>
internal sealed class SecureFrontEnd : IAsyncDisposable
{
    private readonly GrpcFrontEnd _frontEnd;
    private readonly Front _front;
    private readonly List<GrpcChannel> _channels = [];

    private SecureFrontEnd(Front front, GrpcFrontEnd frontEnd, Certificates certificates, ClusterTls tls)
    {
        (_front, _frontEnd, Certificates, Tls) = (front, frontEnd, certificates, tls);
    }

    public Certificates Certificates { get; }

    /// <summary>The front end's own.</summary>
    public ClusterTls Tls { get; }

    public string Address => _frontEnd.Address;

    public string AccessFile => PathIn(Certificates);

    public InMemoryCorfuLog Log => _front.Log;

    public CallerLimits Limits => _frontEnd.Services.GetRequiredService<CallerLimits>();

    /// <param name="callers">The content of <c>callers</c> in the access file.</param>
    public static async Task<SecureFrontEnd> StartAsync(
        string callers = "", Action<CorfuGrpcOptions>? configure = null, InMemoryLogOptions? log = null)
    {
        var certificates = new Certificates();
        var front = new Front(log);
        var runtime = front.NewRuntime();
        var tls = certificates.Open(AccessRole.Node, "a");
        File.WriteAllText(PathIn(certificates), Document(callers));
        var frontEnd = await GrpcFrontEnd.StartAsync(
            new GrpcFrontEnd.Listener(new IPEndPoint(IPAddress.Loopback, 0), tls),
            services =>
            {
                services.AddSingleton<ILogSource>(new FixedLog(front.Log));
                services.AddSingleton<ICorfuConnection>(new NoConnection());
                services.AddHealthChecks().AddCheck("log", static () => HealthCheckResult.Healthy(), ["ready"]);
                services.AddCorfuGrpc();
                services.AddSingleton<ITangoHost>(new GivenRuntime(runtime));
                services.Configure<CorfuGrpcOptions>(options =>
                {
                    (options.RequireRights, options.AccessFile) = (true, PathIn(certificates));
                    configure?.Invoke(options);
                });
            },
            NullLoggerFactory.Instance, CancellationToken.None);
        return new SecureFrontEnd(front, frontEnd, certificates, tls);
    }

    /// <summary>Grants other rights, and has the file read again.</summary>
    public void Grant(string callers)
    {
        File.WriteAllText(AccessFile, Document(callers));
        _frontEnd.ReloadAccess();
    }

    public Caller As(AccessRole role, string name) => With(FrontEndHandler.Create(Certificates.Open(role, name)));

    public Caller As(ClusterTls certificate) => With(FrontEndHandler.Create(certificate));

    /// <summary>Shows no certificate.</summary>
    public Caller AsNobody() => With(new SocketsHttpHandler
    {
        SslOptions = { RemoteCertificateValidationCallback = static (_, _, _, _) => true },
    });

    public async ValueTask DisposeAsync()
    {
        foreach (var channel in _channels) channel.Dispose();
        await _frontEnd.DisposeAsync();
        await _front.DisposeAsync();
        Certificates.Dispose();
    }

    private static string Document(string callers) => $$"""{ "callers": { {{callers}} } }""";

    private static string PathIn(Certificates certificates) => Path.Combine(certificates.Folder, "access.json");

    private Caller With(SocketsHttpHandler handler)
    {
        var channel = GrpcChannel.ForAddress(
            Address, new GrpcChannelOptions { HttpHandler = handler, DisposeHttpClient = true });
        _channels.Add(channel);
        return new Caller(channel);
    }

    private sealed class FixedLog(ICorfuLog log) : ILogSource
    {
        public ValueTask<ICorfuLog> GetAsync(CancellationToken cancellationToken) => new(log);

        public ValueTask<string> GetClusterIdAsync(CancellationToken cancellationToken) => new(FrontEnd.ClusterId);
    }

    private sealed class NoConnection : ICorfuConnection
    {
        public Task<CorfuClient> GetClientAsync(CancellationToken cancellationToken = default) =>
            Task.FromException<CorfuClient>(new ClusterNotFoundException("There is no cluster."));
    }

    private sealed class GivenRuntime(TangoRuntime runtime) : ITangoHost
    {
        public Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default) =>
            Task.FromResult(runtime);
    }
}

/// <summary>The stubs of a caller.</summary>
internal sealed class Caller(GrpcChannel channel)
{
    public CallInvoker Invoker { get; } = channel.CreateCallInvoker();

    public LogService.LogServiceClient Log => new(Invoker);

    public ObjectService.ObjectServiceClient Objects => new(Invoker);

    public DictionaryService.DictionaryServiceClient Dictionaries => new(Invoker);

    public SessionService.SessionServiceClient Sessions => new(Invoker);

    public LockService.LockServiceClient Locks => new(Invoker);

    public QueueService.QueueServiceClient Queues => new(Invoker);

    public TransactionService.TransactionServiceClient Transactions => new(Invoker);

    public AdminService.AdminServiceClient Admin => new(Invoker);

    /// <summary>The reason of a call's refusal; empty: it succeeded, or failed for another cause than rights.</summary>
    public static async Task<string> RefusalOf(Func<Task> call)
    {
        try
        {
            await call();
            return "";
        }
        catch (RpcException e) when (e.StatusCode is StatusCode.PermissionDenied or StatusCode.Unauthenticated)
        {
            return e.GetRpcStatus()?.GetDetail<ErrorInfo>()?.Reason ?? e.StatusCode.ToString();
        }
        catch (RpcException e) when (e.StatusCode is not StatusCode.Internal)
        {
            return "";
        }
    }

    /// <summary>Whether rights let the call through.</summary>
    public static async Task<bool> May(Func<Task> call) => await RefusalOf(call) == "";
}
