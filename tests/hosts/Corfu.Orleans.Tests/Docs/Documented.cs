using System.Text.Json.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Hosting;
using Orleans.Journaling.Json;

namespace Corfu.Orleans.Tests.Docs;

/// <summary>The code of docs/orleans.md.</summary>
internal static class Documented
{
    public static void Silo(HostApplicationBuilder builder)
    {
        builder.UseOrleans(silo => silo
            .UseCorfuClustering("corfu://127.0.0.1:4100")
            .AddCorfuGrainStorageAsDefault()
            .AddCorfuGrainStorage("hot", options => options.KeepStatesInLog = false)
            .UseCorfuReminders()
            .UseCorfuGrainDirectory());
    }

    public static void Client(HostApplicationBuilder builder)
    {
        builder.UseOrleansClient(client => client.UseCorfuClustering("corfu://127.0.0.1:4100"));
    }

    public static void Host(HostApplicationBuilder builder)
    {
        builder.Services.AddCorfuClient("corfu://127.0.0.1:4100").AddTango();
        builder.UseOrleans(silo => silo
            .UseCorfuClustering(options => options.ObjectPrefix = "billing")
            .AddCorfuGrainStorageAsDefault());
    }

    public static void Journaling(HostApplicationBuilder builder)
    {
        builder.UseOrleans(silo => silo
            .UseCorfuClustering("corfu://127.0.0.1:4100")
            .AddCorfuJournalStorage(options => options.CompactAfterWrites = 500)
            .UseJsonJournalFormat(MyJournalJsonContext.Default));
    }
}

[JsonSerializable(typeof(string))]
[JsonSerializable(typeof(uint))]
[JsonSerializable(typeof(ulong))]
[JsonSerializable(typeof(DateTime))]
internal sealed partial class MyJournalJsonContext : JsonSerializerContext;
