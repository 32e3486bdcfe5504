using System.Net;
using Corfu.Load;
using Corfu.Protocol;
using Corfu.Server;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Corfu.Benchmarks;

/// <summary>The inside of a process that answers every request at once, on the transport of the nodes: the limit that a
/// cluster on this machine can come close to.</summary>
internal static class EchoProcess
{
    public const string Name = "echo";

    public static async Task<int> RunAsync()
    {
        var cluster = new ClusterId(Guid.NewGuid());
        var handler = new EchoHandler(new NodeId(Guid.NewGuid()));
        using var registry = new RoleRegistry(cluster, new RequestTable(UnitMessages.AddTo, SequencerMessages.AddTo));
        registry.Add(handler);
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore()
            .ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, 0, listen => listen.UseCorfu(registry)));
        await using var app = builder.Build();
        await app.StartAsync();
        var endpoint = new NodeEndpoint("127.0.0.1", new Uri(app.Urls.First()).Port);
        await ChildProcess.ServeAsync(new BareRole(new NodeAddress(handler.Id, endpoint), cluster).ToString());
        return 0;
    }
}
