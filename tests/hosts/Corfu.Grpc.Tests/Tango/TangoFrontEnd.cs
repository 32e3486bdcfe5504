using System.Net;
using Corfu.Client;
using Corfu.Extensions;
using Corfu.Grpc.Protocol.Tango.V1;
using global::Grpc.Core;
using global::Grpc.Net.Client;
using global::Tango;
using Google.Rpc;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Corfu.Grpc.Tests.Tango;

/// <summary>A front end over a runtime, served on a port of this machine, and a caller's stubs.</summary>
internal sealed class TangoFrontEnd : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly GrpcChannel _channel;

    private TangoFrontEnd(WebApplication app, TangoRuntime runtime)
    {
        (_app, Runtime) = (app, runtime);
        _channel = GrpcChannel.ForAddress(app.Urls.Single());
        Objects = new ObjectService.ObjectServiceClient(_channel);
        Dictionaries = new DictionaryService.DictionaryServiceClient(_channel);
        Sessions = new SessionService.SessionServiceClient(_channel);
        Locks = new LockService.LockServiceClient(_channel);
        Queues = new QueueService.QueueServiceClient(_channel);
        LeasedDictionaries = new LeasedDictionaryService.LeasedDictionaryServiceClient(_channel);
        Transactions = new TransactionService.TransactionServiceClient(_channel);
    }

    public TangoRuntime Runtime { get; }

    public CallInvoker Invoker => _channel.CreateCallInvoker();

    public ObjectService.ObjectServiceClient Objects { get; }

    public DictionaryService.DictionaryServiceClient Dictionaries { get; }

    public SessionService.SessionServiceClient Sessions { get; }

    public LockService.LockServiceClient Locks { get; }

    public QueueService.QueueServiceClient Queues { get; }

    public LeasedDictionaryService.LeasedDictionaryServiceClient LeasedDictionaries { get; }

    public TransactionService.TransactionServiceClient Transactions { get; }

    /// <param name="runtime">Not disposed with the front end.</param>
    public static async Task<TangoFrontEnd> StartAsync(
        TangoRuntime runtime, Action<CorfuGrpcOptions>? configure = null)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(static kestrel =>
            kestrel.Listen(IPAddress.Loopback, 0, static listen => listen.Protocols = HttpProtocols.Http2));
        builder.Services.AddSingleton<ICorfuConnection>(new NoConnection());
        builder.Services.AddCorfuGrpc(configure);
        builder.Services.AddSingleton<ITangoHost>(new GivenRuntime(runtime));
        var app = builder.Build();
        app.MapCorfu();
        await app.StartAsync();
        return new TangoFrontEnd(app, runtime);
    }

    public async Task CreateAsync(string name, ObjectType type) =>
        await Objects.CreateAsync(new CreateRequest { Object = name, Type = type });

    /// <summary>Opens a session that keeps itself alive until it is disposed.</summary>
    public Task<CallerSession> OpenSessionAsync(TimeSpan timeToLive, string owner = "", params Holding[] held) =>
        CallerSession.OpenAsync(Sessions, timeToLive, owner, held);

    /// <summary>The code and the reason of what a call throws. A connection that broke tells no reason.</summary>
    public static async Task<(StatusCode Code, string Reason)> FailureOf(Func<Task> call) =>
        ReasonOf(await Assert.ThrowsAsync<RpcException>(call));

    public static (StatusCode Code, string Reason) ReasonOf(RpcException e) =>
        (e.StatusCode, e.GetRpcStatus() is null ? $"no reason: {e.Status}" : InfoOf(e).Reason);

    public static ErrorInfo InfoOf(RpcException e) => e.GetRpcStatus()!.GetDetail<ErrorInfo>()!;

    public Task StopAsync() => _app.StopAsync();

    public async ValueTask DisposeAsync()
    {
        _channel.Dispose();
        await _app.StopAsync();
        await _app.DisposeAsync();
    }

    /// <summary>The runtime is the test's.</summary>
    private sealed class NoConnection : ICorfuConnection
    {
        public Task<CorfuClient> GetClientAsync(CancellationToken cancellationToken = default) =>
            Task.FromException<CorfuClient>(new InvalidOperationException("This front end serves objects only."));
    }

    private sealed class GivenRuntime(TangoRuntime runtime) : ITangoHost
    {
        public Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default) =>
            Task.FromResult(runtime);
    }
}
