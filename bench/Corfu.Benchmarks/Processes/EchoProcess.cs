using System.Diagnostics;
using System.Net;
using Corfu.Load;
using Corfu.Protocol;
using Corfu.Server;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Corfu.Benchmarks;

/// <summary>A process that answers every request at once, on the transport of the nodes: the limit that a cluster on
/// this machine can come close to. It ends with its standard input.</summary>
internal sealed class EchoProcess : IDisposable
{
    public const string Name = "echo";

    private const int PatienceMilliseconds = 5000;

    private readonly Process _process;

    private EchoProcess(Process process, BareRole role) => (_process, Role) = (process, role);

    public BareRole Role { get; }

    public static async Task<EchoProcess> StartAsync()
    {
        var command = ProgramFile.With(Name);
        var process = Process.Start(new ProcessStartInfo(command.Program, command.Arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!;
        var address = await process.StandardOutput.ReadLineAsync()
            ?? throw new IOException("The echo process has died.");
        return new EchoProcess(process, BareRole.Parse(address));
    }

    /// <summary>The inside of the process.</summary>
    public static async Task<int> RunAsync()
    {
        var cluster = new ClusterId(Guid.NewGuid());
        var handler = new EchoHandler(new NodeId(Guid.NewGuid()));
        using var registry = new RoleRegistry(cluster);
        registry.Add(handler);
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore()
            .ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, 0, listen => listen.UseCorfu(registry)));
        await using var app = builder.Build();
        await app.StartAsync();
        var endpoint = new NodeEndpoint("127.0.0.1", new Uri(app.Urls.First()).Port);
        await Console.Out.WriteLineAsync(new BareRole(new NodeAddress(handler.Id, endpoint), cluster).ToString());
        await Console.In.ReadLineAsync();
        return 0;
    }

    public void Dispose()
    {
        _process.StandardInput.Close();
        if (!_process.WaitForExit(PatienceMilliseconds)) _process.Kill();
        _process.Dispose();
    }
}
