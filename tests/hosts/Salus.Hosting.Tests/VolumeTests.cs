using System.Net;
using System.Net.Sockets;
using Salus.Protocol;
using Salus.Store.Shell;

namespace Salus.Hosting.Tests;

/// <summary>Volumes over real nodes, files, connections and a real log.</summary>
public sealed class VolumeTests : IAsyncLifetime
{
    private const int Block = VolumeGeometry.MinBlockSize;

    private EmbeddedCluster _cluster = null!;
    private EmbeddedSalus _salus = null!;
    private SalusConnection _connection = null!;

    public async ValueTask InitializeAsync()
    {
        _cluster = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        _salus = await EmbeddedSalus.StartAsync(_cluster.ConnectionString);
        _connection = await SalusConnection.OpenAsync(_salus.Log);
        await _connection.Log.Admin.CreateAsync("v", VolumeGeometry.Create(64 << 20));
    }

    public async ValueTask DisposeAsync()
    {
        await _connection.DisposeAsync();
        await _salus.DisposeAsync();
        await _cluster.DisposeAsync();
    }

    [Fact]
    public async Task Volume_reads_as_written_and_again_after_another_mount()
    {
        await using (var volume = await MountAsync())
        {
            Assert.Equal((64L << 20, Block, false), (volume.Size, volume.BlockSize, volume.IsReadOnly));
            await Task.WhenAll(Enumerable.Range(0, 64).Select(i => WriteAsync(volume, i * 256, i)));
            await volume.ClearAsync(256, 1, durable: false);
            await volume.FlushAsync();
            await ReadAsync(volume, 0, 0);
            Assert.Equal(new byte[Block], await ReadAsync(volume, 256));
        }

        await using var again = await MountAsync();
        for (var i = 2; i < 64; i++) await ReadAsync(again, i * 256, i);
        Assert.Equal(new byte[Block], await ReadAsync(again, 256));
        Assert.Equal(63, (await VolumeCheck.RunAsync(again)).Verified);
    }

    [Fact]
    public async Task Volume_keeps_acknowledged_writes_when_every_node_has_restarted()
    {
        await using (var volume = await MountAsync())
        {
            for (var i = 0; i < 32; i++) await WriteAsync(volume, i * 500, i);
        }

        var names = _salus.Nodes.Keys.ToList();
        foreach (var name in names) await _salus.StopNodeAsync(name);
        foreach (var name in names) await _salus.StartNodeAsync(name);
        await using var again = await MountAsync();
        for (var i = 0; i < 32; i++) await ReadAsync(again, i * 500, i);
        await WriteAsync(again, 0, 99);
        await ReadAsync(again, 0, 99);
    }

    [Fact]
    public async Task Writer_goes_on_beside_a_node_that_restarts()
    {
        await using var volume = await MountAsync();
        await WriteAsync(volume, 0, 1);
        var name = _salus.Nodes.Keys.First();
        await _salus.StopNodeAsync(name);
        var waiting = Task.WhenAll(Enumerable.Range(0, 16).Select(i => WriteAsync(volume, i * 1000, i + 2)));
        await _salus.StartNodeAsync(name);
        await waiting;
        for (var i = 0; i < 16; i++) await ReadAsync(volume, i * 1000, i + 2);
    }

    [Fact]
    public async Task Flipped_byte_of_a_file_at_rest_is_found_and_mended_from_another_node()
    {
        await using (var volume = await MountAsync())
        {
            for (var i = 0; i < 64; i++) await WriteAsync(volume, i, i);
        }

        // The end of a mount writes checkpoint files at every member.
        var files = Array.Empty<string>();
        while (files.Length != 3)
        {
            await Task.Delay(20);
            files = Directory.GetFiles(_salus.Folder, "*.ckp", SearchOption.AllDirectories);
        }

        var name = _salus.Nodes.Keys.Single(name => files[0].Split(Path.DirectorySeparatorChar).Contains(name));
        await _salus.StopNodeAsync(name);
        var whole = await ReadFileAsync(files[0]);
        Assert.Equal(whole, await ReadFileAsync(files[1]));
        var damaged = whole.ToArray();
        damaged[(17 * Block) + 5] ^= 1;
        await File.WriteAllBytesAsync(files[0], damaged);
        await _salus.StartNodeAsync(name);
        while (!Enumerable.SequenceEqual(whole, await ReadFileAsync(files[0]))) await Task.Delay(20);
        var entry = (await _connection.Log.Map.Directory.FindAsync("v"))!;
        while (true)
        {
            var notes = (await _connection.CopiesAsync(entry.Id)).Select(copy => copy.Note).OfType<string>().ToList();
            if (notes.Count == 1 && notes[0].EndsWith("1 damaged files or records have come whole from other stores",
                StringComparison.Ordinal)) break;
            await Task.Delay(20);
        }

        await using var again = await MountAsync();
        for (var i = 0; i < 64; i++) await ReadAsync(again, i, i);
    }

    /// <summary>The node gave its lease up each second, and its regions were recovered each time.</summary>
    [Fact]
    public async Task Node_without_a_listing_of_files_warns_serves_on_and_drops_the_volume_later()
    {
        await using (var volume = await MountAsync()) await WriteAsync(volume, 0, 1);
        var node = _salus.Nodes.Values.First();
        var files = Directory.GetDirectories(_salus.Folder, StoreFolder.FilesName, SearchOption.AllDirectories)
            .Single(folder => folder.Split(Path.DirectorySeparatorChar).Contains(_salus.Nodes.Keys.First()));
        Directory.Move(files, files + ".away");
        await File.WriteAllTextAsync(files, "no folder");
        var before = Incarnations();
        var entry = await _connection.Log.Admin.DeleteAsync("v");
        while (!node.Warnings.Any(static warning => warning.Contains("cannot be dropped", StringComparison.Ordinal)))
            await Task.Delay(20);
        Assert.NotNull(await _connection.Log.Map.Directory.FindAsync("v"));
        File.Delete(files);
        Directory.Move(files + ".away", files);
        await _connection.Log.Admin.WaitUntilGoneAsync("v", entry.Id);
        Assert.Equal(before, Incarnations());

        Guid[] Incarnations() =>
            [.. _connection.Log.Map.View.Nodes.Stores.Values.Select(static booked => booked.Incarnation.Value)];
    }

    [Fact]
    public async Task Volume_that_is_mounted_elsewhere_is_not_deleted()
    {
        await using (await MountAsync())
        {
            var refused = await Assert.ThrowsAnyAsync<CorfuException>(() => _connection.Log.Admin.DeleteAsync("v"));
            Assert.Contains("mounted", refused.Message, StringComparison.Ordinal);
        }

        await _connection.Log.Admin.DeleteAsync("v");
    }

    [Fact]
    public async Task Server_of_all_volumes_exports_a_volume_that_is_made_later()
    {
        await using var server = await VolumeServer.StartAsync(
            new VolumeServerOptions(_salus.Log, [], new IPEndPoint(IPAddress.Loopback, 0)));
        await _connection.Log.Admin.CreateAsync("later", VolumeGeometry.Create(16 << 20));
        while (!(await ExportsAsync(server.EndPoint)).SequenceEqual(["later", "v"])) await Task.Delay(20);
        await _connection.Log.Admin.DeleteAsync("later");
        while (!(await ExportsAsync(server.EndPoint)).SequenceEqual(["v"])) await Task.Delay(20);
    }

    [Fact]
    public async Task Server_of_an_unknown_volume_does_not_start()
    {
        var listen = new IPEndPoint(IPAddress.Loopback, 0);
        var refused = await Assert.ThrowsAsync<VolumeException>(
            () => VolumeServer.StartAsync(new VolumeServerOptions(_salus.Log, ["w"], listen)));
        Assert.Contains("There is no volume 'w'", refused.Message, StringComparison.Ordinal);
        refused = await Assert.ThrowsAsync<VolumeException>(
            () => VolumeServer.StartAsync(new VolumeServerOptions(_salus.Log, ["v@s"], listen)));
        Assert.Contains("There is no snapshot 'v@s'", refused.Message, StringComparison.Ordinal);
    }

    private async Task<IVolume> MountAsync() => await (await _connection.FindVolumeAsync("v")).MountAsync(default);

    private static Task WriteAsync(IVolume volume, long block, int seed) =>
        volume.WriteAsync(block, Content(seed), durable: true).AsTask();

    private static async Task ReadAsync(IVolume volume, long block, int seed) =>
        Assert.Equal(Content(seed), await ReadAsync(volume, block));

    private static async Task<byte[]> ReadAsync(IVolume volume, long block)
    {
        var bytes = new byte[Block];
        await volume.ReadAsync(block, bytes, null, default);
        return bytes;
    }

    private static async Task<byte[]> ReadFileAsync(string path)
    {
        while (true)
        {
            try
            {
                return await File.ReadAllBytesAsync(path);
            }
            catch (IOException)
            {
                // A node that writes a file holds it.
                await Task.Delay(20);
            }
        }
    }

    private static byte[] Content(int seed)
    {
        var bytes = new byte[Block];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }

    // NBD_OPT_LIST, as the protocol's text has it.
    private static async Task<ImmutableArray<string>> ExportsAsync(IPEndPoint server)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(server);
        var stream = client.GetStream();
        await ReadAsync(stream, 18);
        await stream.WriteAsync((byte[])[0, 0, 0, 3, .. "IHAVEOPT"u8, 0, 0, 0, 3, 0, 0, 0, 0]);
        var names = ImmutableArray.CreateBuilder<string>();
        while (true)
        {
            var head = await ReadAsync(stream, 20);
            var body = await ReadAsync(stream, Number(head, 16));
            if (Number(head, 12) == 1) break;
            names.Add(System.Text.Encoding.UTF8.GetString(body.AsSpan(4, Number(body, 0))));
        }

        names.Sort(StringComparer.Ordinal);
        return names.ToImmutable();

        static int Number(byte[] bytes, int at) =>
            System.Buffers.Binary.BinaryPrimitives.ReadInt32BigEndian(bytes.AsSpan(at));
    }

    private static async Task<byte[]> ReadAsync(NetworkStream stream, int count)
    {
        var bytes = new byte[count];
        await stream.ReadExactlyAsync(bytes);
        return bytes;
    }
}
