using System.CommandLine;
using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Corfu.Load;

/// <summary>A process that serves a front end, or nothing but <see cref="BytesEcho"/>, over cleartext HTTP/2.</summary>
internal static class GrpcServerCommand
{
    public const string Name = "grpc-server";

    public static Command Create()
    {
        var connect = new Argument<string?>("connect") { Arity = ArgumentArity.ZeroOrOne };
        var command = new Command(Name, "A gRPC server; started by the other commands.") { connect };
        command.Hidden = true;
        command.SetAction((result, cancellationToken) => RunAsync(result.GetValue(connect), cancellationToken));
        return command;
    }

    /// <summary>Prints the address, then serves until the standard input ends.</summary>
    private static async Task<int> RunAsync(string? connect, CancellationToken cancellationToken)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        builder.Services.AddRouting();
        builder.Services.AddGrpc();
        if (connect is not null)
            builder.Services.AddCorfuClient(client => client.ConnectionString = connect).AddCorfuGrpc();
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
            kestrel.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = HttpProtocols.Http2));
        await using var app = builder.Build();
        if (connect is null) app.MapGrpcService<BytesEchoService>();
        else app.MapCorfu();
        await app.StartAsync(cancellationToken);
        await Console.Out.WriteLineAsync(app.Urls.First());
        await Console.In.ReadLineAsync(cancellationToken);
        return 0;
    }
}
