using System.CommandLine;
using System.Net;
using Corfu.Protocol;
using Corfu.Sequencer;
using Corfu.Server;
using Corfu.Transport;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Logging;

namespace Corfu.Load;

/// <summary>A process with one role and nothing around it: echo, or a sequencer in its first epoch.</summary>
internal static class BareRoleCommand
{
    public const string Name = "role";
    public const string Echo = "echo";
    public const string Sequencer = "sequencer";

    public static Command Create()
    {
        var kind = new Argument<string>("kind");
        var command = new Command(Name, "A role alone in a process; started by the other commands.") { kind };
        command.Hidden = true;
        command.SetAction((result, cancellationToken) => RunAsync(result.GetValue(kind)!, cancellationToken));
        return command;
    }

    private static async Task<int> RunAsync(string kind, CancellationToken cancellationToken)
    {
        var cluster = new ClusterId(Guid.NewGuid());
        IRoleHandler handler =
            kind == Echo ? new EchoHandler(new NodeId(Guid.NewGuid())) : new SequencerHandler(SystemEntropy.Instance);
        using var registry = new RoleRegistry(cluster, new RequestTable(UnitMessages.AddTo, SequencerMessages.AddTo));
        registry.Add(handler);
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        builder.WebHost.UseKestrelCore()
            .ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, 0, listen => listen.UseCorfu(registry)));
        await using var app = builder.Build();
        await app.StartAsync(cancellationToken);
        var role =
            new BareRole(new NodeAddress(handler.Id, new NodeEndpoint("127.0.0.1", new Uri(app.Urls.First()).Port)),
                cluster);
        if (kind == Sequencer) await BootstrapAsync(role);
        await Console.Out.WriteLineAsync(role.ToString());
        await Console.In.ReadLineAsync(cancellationToken);
        return 0;
    }

    private static async Task BootstrapAsync(BareRole role)
    {
        var unit = new NodeAddress(new NodeId(Guid.NewGuid()), role.Address.Endpoint);
        var projection = new Projection(
            role.Cluster,
            Epoch.First,
            role.Address,
            LogPosition.Zero,
            LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, [new Chain([new Replica(unit.Id)])])],
            [unit],
            [new NodeAddress(new NodeId(Guid.NewGuid()), role.Address.Endpoint)],
            "a sequencer alone");
        using var transport = role.Connect();
        var answer = await transport.CallAsync(role.Address, new BootstrapRequest(projection), CancellationToken.None);
        if (!answer.IsOk) throw CorfuStatusException.Create(answer.Status, "bootstrap");
    }
}
