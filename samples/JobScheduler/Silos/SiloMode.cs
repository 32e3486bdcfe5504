using System.Net;
using System.Text.Json;
using Corfu;
using Corfu.Protocol;
using JobScheduler.Cli;
using JobScheduler.Scheduling;
using JobScheduler.Workloads;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Runtime;
using Tango;

namespace JobScheduler.Silos;

/// <summary>A silo in a process of its own. It ends when its input does, so that none outlives its run.</summary>
internal static class SiloMode
{
    public const string Ready = "ready";

    public static async Task<int> RunAsync()
    {
        try
        {
            SiloSettings settings = SiloSettings.Parse(await Console.In.ReadLineAsync() ?? "null");
            using IHost host = Build(settings);
            await host.StartAsync();
            await Console.Out.WriteLineAsync(Ready);
            Task ended = host.WaitForShutdownAsync();
            // Reading the console blocks its thread, and the silo ends by a signal too.
            await Task.WhenAny(Task.Run(EndOfInputAsync), ended);
            await host.StopAsync();
            return ExitCodes.Success;
        }
        catch (Exception e) when (e is JsonException or TraceFormatException or CorfuException or TangoException
            or OrleansException or IOException or OperationCanceledException)
        {
            await Console.Error.WriteLineAsync($"error: {e.Message}");
            return ExitCodes.Failed;
        }
    }

    private static IHost Build(SiloSettings settings)
    {
        HostApplicationBuilder builder = Host.CreateApplicationBuilder();
        // A silo says much about the death of others. Logging__LogLevel__Default=Warning shows it.
        builder.Logging.SetMinimumLevel(LogLevel.Critical);
        builder.Logging.AddConsole(options => options.LogToStandardErrorThreshold = LogLevel.Trace);
        builder.Services.Configure<HostOptions>(options => options.ShutdownTimeout = SiloTimes.Stop);
        builder.Services.AddSingleton(new SiloWork(
            settings.Connection, settings.Run, settings.Options.Replicas, WorkloadSource.Load(settings.Options),
            new SchedulingLimits { TurnLength = settings.TurnLength }));
        builder.UseOrleans(silo => silo
            .Configure<ClusterOptions>(options =>
            {
                options.ClusterId = settings.Cluster;
                options.ServiceId = SiloSettings.Service;
            })
            .Configure<SiloOptions>(options => options.SiloName = settings.Name)
            .Configure<ClusterMembershipOptions>(SiloTimes.Apply)
            .ConfigureEndpoints(IPAddress.Loopback, settings.SiloPort, settings.GatewayPort)
            .UseCorfuClustering(settings.Connection)
            .UseCorfuGrainDirectory()
            .AddCorfuGrainStorageAsDefault());
        return builder.Build();
    }

    private static async Task EndOfInputAsync()
    {
        while (await Console.In.ReadLineAsync() is not null)
        {
            // Nothing is said after the settings.
        }
    }
}
