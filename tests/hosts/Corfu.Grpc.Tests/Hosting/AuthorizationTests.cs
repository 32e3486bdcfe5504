using System.Net;
using System.Security.Claims;
using System.Text.Encodings.Web;
using Corfu.Client;
using Corfu.Extensions;
using Corfu.Grpc.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Net.Client;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Tango.Testing;

namespace Corfu.Grpc.Tests.Hosting;

/// <summary>A host of one's own says who may call, of each service by itself.</summary>
public sealed class AuthorizationTests
{
    private const string Secret = "open sesame";

    private static async Task<WebApplication> StartAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(static kestrel =>
            kestrel.Listen(IPAddress.Loopback, 0, static listen => listen.Protocols = HttpProtocols.Http2));
        builder.Services.AddAuthentication("secret")
            .AddScheme<AuthenticationSchemeOptions, SecretScheme>("secret", null);
        builder.Services.AddAuthorization();
        builder.Services.AddHealthChecks().AddCheck("log", static () => HealthCheckResult.Healthy(), ["ready"]);
        builder.Services.AddSingleton<ICorfuConnection>(new NoConnection());
        builder.Services.AddSingleton<ILogSource>(new OneLog(new InMemoryCorfuLog()));
        builder.Services.AddCorfuGrpc();
        var app = builder.Build();
        app.UseAuthentication();
        app.UseAuthorization();
        var mapped = app.MapCorfu();
        mapped.RequireAuthorization();
        mapped.Health.AllowAnonymous();
        await app.StartAsync();
        return app;
    }

    [Fact]
    public async Task Caller_without_credentials_is_refused_where_the_host_requires_credentials()
    {
        await using var app = await StartAsync();
        using var channel = GrpcChannel.ForAddress(app.Urls.Single());
        var refused = await Assert.ThrowsAsync<RpcException>(
            async () => await new LogService.LogServiceClient(channel).DescribeAsync(new DescribeRequest()));
        Assert.Equal(StatusCode.Unauthenticated, refused.StatusCode);
        var health = await new Health.HealthClient(channel).CheckAsync(new HealthCheckRequest());
        Assert.Equal(HealthCheckResponse.Types.ServingStatus.Serving, health.Status);
        await Assert.ThrowsAsync<CorfuDeniedException>(async () => await GrpcCorfuLog.ConnectAsync(
            app.Urls.Single(), GrpcLogOptions.Default with { OperationTimeout = TimeSpan.FromMilliseconds(200) }));
    }

    [Fact]
    public async Task Credentials_of_the_channel_open_every_call_of_the_client()
    {
        await using var app = await StartAsync();
        await using var log = await GrpcCorfuLog.ConnectAsync(app.Urls.Single(), new GrpcLogOptions
        {
            ConfigureChannel = static channel =>
            {
                var caller = CallCredentials.FromInterceptor(static (_, metadata) =>
                {
                    metadata.Add("authorization", Secret);
                    return Task.CompletedTask;
                });
                channel.Credentials = ChannelCredentials.Create(ChannelCredentials.Insecure, caller);
                channel.UnsafeUseInsecureChannelCallCredentials = true;
            },
        });
        (await log.AppendAsync(new byte[] { 1 }, [])).Require();
        Assert.Equal(1, (await log.CheckAsync([])).Tail.Offset);
    }

    private sealed class SecretScheme(
        IOptionsMonitor<AuthenticationSchemeOptions> options, ILoggerFactory logger, UrlEncoder encoder)
        : AuthenticationHandler<AuthenticationSchemeOptions>(options, logger, encoder)
    {
        protected override Task<AuthenticateResult> HandleAuthenticateAsync() => Task.FromResult(
            Request.Headers.Authorization == Secret
                ? AuthenticateResult.Success(new AuthenticationTicket(
                    new ClaimsPrincipal(new ClaimsIdentity("secret")), Scheme.Name))
                : AuthenticateResult.NoResult());
    }

    private sealed class NoConnection : ICorfuConnection
    {
        public Task<CorfuClient> GetClientAsync(CancellationToken cancellationToken = default) =>
            Task.FromException<CorfuClient>(new InvalidOperationException("There is no cluster."));
    }

    private sealed class OneLog(ICorfuLog log) : ILogSource
    {
        public ValueTask<ICorfuLog> GetAsync(CancellationToken cancellationToken) => new(log);

        public ValueTask<string> GetClusterIdAsync(CancellationToken cancellationToken) => new("one");
    }
}
