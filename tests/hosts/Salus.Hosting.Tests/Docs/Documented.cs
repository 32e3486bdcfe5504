using Corfu.Extensions;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Salus.Protocol;

namespace Salus.Hosting.Tests.Docs;

/// <summary>The code of docs/salus.md.</summary>
internal static class Documented
{
    public static void Host(HostApplicationBuilder builder)
    {
        builder.Services.AddSalusClient("corfu://..."); // validated at the start; health check salus-client
    }

    public static async Task UseAsync(
        ISalusConnection salus, ReadOnlyMemory<byte> data, Memory<byte> into, CancellationToken cancellationToken)
    {
        var connection = await salus.GetClientAsync();                  // ISalusConnection salus, injected
        await connection.Log.Admin.CreateAsync("disk1", VolumeGeometry.Create(64 << 20));
        await using var volume = await connection.MountAsync("disk1");  // the writer, until it is disposed
        await volume.WriteAsync(firstBlock: 5, data, durable: true);    // ends when all members have it on disk
        await volume.ReadAsync(firstBlock: 5, into, extents: null, cancellationToken); // whole blocks
    }

    public static async Task TestAsync()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        await using var salus = await EmbeddedSalus.StartAsync(cluster.ConnectionString);
    }
}
