using System.Collections.Concurrent;
using System.IO.Pipelines;
using System.Net.Security;
using Microsoft.Extensions.Logging.Abstractions;
using Salus.Nbd.Exports;
using Salus.Nbd.Limits;

namespace Salus.Nbd.Tests.Support;

/// <summary>The front end over volumes in memory, without sockets: clients are pairs of pipes.</summary>
internal sealed class NbdWorld : IAsyncDisposable
{
    private readonly ConcurrentBag<NbdPeer> _peers = [];

    public NbdWorld(NbdServerOptions? options = null, Func<SslServerAuthenticationOptions>? tls = null,
        params ReadOnlySpan<NbdExport> exports)
    {
        options ??= NbdServerOptions.Default;
        var logger = NullLogger.Instance;
        Exports = new ExportTable(options, logger, Time);
        foreach (var export in exports) Exports.Add(export);
        Services = new NbdServices(options, Exports, new ByteBudget(options.MaxBytes), tls, logger, Time);
    }

    public ManualTime Time { get; } = new();

    public ExportTable Exports { get; }

    public NbdServices Services { get; }

    /// <summary>A world of one volume of that name, with blocks of 4 KiB.</summary>
    public static NbdWorld Of(MemoryVolume volume, NbdServerOptions? options = null) =>
        new(options, null, new NbdExport("vol", SourceOf(volume)));

    /// <summary>Mounts that outlive their uses.</summary>
    public static MemorySource SourceOf(MemoryVolume volume) => new(volume.Size, volume.BlockSize, volume.IsReadOnly,
        _ => Task.FromResult<IVolume>(new SharedVolume(volume)));

    /// <summary>A client that has sent nothing yet.</summary>
    public NbdPeer Connect()
    {
        var peer = new NbdPeer(Services);
        _peers.Add(peer);
        return peer;
    }

    /// <summary>A client in its transmission.</summary>
    public async Task<NbdPeer> AttachAsync(string name = "vol", bool isStructured = true, bool hasContext = true)
    {
        var peer = Connect();
        await peer.GreetAsync();
        if (isStructured)
        {
            await peer.SendOptionAsync(OptionCode.StructuredReply, []);
            Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
        }

        if (isStructured && hasContext)
        {
            await peer.SendOptionAsync(OptionCode.SetMetaContext, Bytes.Contexts(name, "base:allocation"));
            Assert.Equal(OptionReply.MetaContext, (await peer.ReadOptionAsync()).Kind);
            Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
        }

        await peer.SendOptionAsync(OptionCode.Go, Bytes.Info(name));
        Assert.Equal(OptionReply.Info, (await peer.ReadOptionAsync()).Kind);
        Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
        return peer;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var peer in _peers) await peer.DisposeAsync();
        await Exports.CloseAsync();
    }
}

internal sealed record PipePair(PipeReader Input, PipeWriter Output) : IDuplexPipe;
