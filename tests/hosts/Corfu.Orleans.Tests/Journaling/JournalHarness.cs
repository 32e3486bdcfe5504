using System.Buffers;
using System.Text;
using Corfu.Extensions;
using Corfu.Orleans.Journaling;
using Corfu.Orleans.Journaling.Storage;
using Corfu.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Journaling;
using Tango;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Journaling;

/// <summary>Storages of journals over one log in memory; each stands for an activation.</summary>
internal sealed class JournalHarness : IAsyncDisposable
{
    public const string CatalogName = "orleans/service/journals";

    private readonly TangoTestHost _host;
    private readonly ServiceProvider _services;

    /// <param name="maxSpan">Span of the log: its trim point stays so far behind checkpoints.</param>
    public JournalHarness(
        InMemoryLogOptions? log = null, CorfuJournalOptions? options = null, long maxSpan = 16_384)
    {
        _host = new TangoTestHost(log);
        Runtime = _host.Start(new TangoOptions { NewLogMaxSpan = maxSpan }).Runtime;
        _services = new ServiceCollection().AddSingleton<ITangoHost>(new OneTango(Runtime)).BuildServiceProvider();
        var shared = Options.Create(new CorfuOrleansOptions());
        Provider = new CorfuJournalStorageProvider(
            new CorfuOrleansRuntime(_services, shared, _host.Time, NullLogger<CorfuOrleansRuntime>.Instance),
            new ObjectNames(shared, Options.Create(new ClusterOptions { ClusterId = "c", ServiceId = "service" })),
            Options.Create(options ?? new CorfuJournalOptions()),
            Options.Create(new JournaledStateManagerOptions { JournalFormatKey = "json" }),
            NullLoggerFactory.Instance);
    }

    public InMemoryCorfuLog Log => _host.Log;

    public TangoRuntime Runtime { get; }

    public CorfuJournalStorageProvider Provider { get; }

    public CorfuJournalStorage Open(string journal = "cart/1") =>
        (CorfuJournalStorage)Provider.CreateStorage(new JournalId(journal));

    public static Corfu.StreamId StreamOf(string journal) => JournalStreams.Of($"{CatalogName}/{journal}");

    /// <summary>Positions of the journal's entries, trimmed ones too.</summary>
    public async Task<List<LogPosition>> PositionsAsync(string journal = "cart/1")
    {
        var tail = await _host.TailAsync();
        var results = await Log.ReadManyAsync(
            [.. Enumerable.Range(0, (int)tail.Offset).Select(static offset => new LogPosition(offset))]);
        return
        [
            .. results.Where(result => result.Entry?.TryGetStream(StreamOf(journal), out _) == true)
                .Select(static result => result.Position),
        ];
    }

    public async Task<PageState[]> StatesAsync(IEnumerable<LogPosition> positions) =>
        [.. (await Log.ReadManyAsync([.. positions])).Select(static result => result.State)];

    /// <summary>The trims that were asked for have ended.</summary>
    public async Task TrimmedAsync()
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        while (Provider.Trimmer.UnderWay > 0) await Task.Delay(1, limit.Token);
    }

    /// <summary>Trims the log as far as the catalog lets it once it has checkpoints.</summary>
    /// <returns>That position.</returns>
    public async Task<LogPosition> TrimAsync()
    {
        for (int i = 0; i < 2; i++) await Runtime.Checkpoints.WriteAsync(CatalogName);
        var point = await Runtime.Log.ReadTrimPointAsync();
        var claim = point.Claims.Single(static claim => claim.Name == CatalogName);
        await Log.TrimPrefixAsync(claim.Position);
        return claim.Position;
    }

    public static ReadOnlySequence<byte> Bytes(string text) => new(Encoding.UTF8.GetBytes(text));

    public static async Task<string> ReadAsync(IJournalStorage storage) => (await ReadAllAsync(storage)).Text;

    public static async Task<(string Text, IJournalMetadata? Metadata, bool IsCompleted)> ReadAllAsync(
        IJournalStorage storage, CancellationTokenSource? cancelsItself = null)
    {
        var consumer = new Consumer(cancelsItself);
        try
        {
            await storage.ReadAsync(consumer, cancelsItself?.Token ?? default);
        }
        catch (OperationCanceledException)
        {
            // The consumer was not told of an end.
        }

        return (consumer.Text.ToString(), consumer.Metadata, consumer.IsCompleted);
    }

    public async ValueTask DisposeAsync()
    {
        Provider.Dispose();
        await _services.DisposeAsync();
        await _host.DisposeAsync();
    }

    private sealed class Consumer(CancellationTokenSource? cancelsItself) : IJournalStorageConsumer
    {
        public StringBuilder Text { get; } = new();

        public IJournalMetadata? Metadata { get; private set; }

        public bool IsCompleted { get; private set; }

        public void Read(JournalBufferReader buffer, IJournalMetadata? metadata)
        {
            byte[] bytes = buffer.ToArray();
            buffer.Skip(bytes.Length);
            Text.Append(Encoding.UTF8.GetString(bytes));
            (Metadata, IsCompleted) = (metadata, buffer.IsCompleted);
            cancelsItself?.Cancel();
        }
    }

    private sealed class OneTango(TangoRuntime runtime) : ITangoHost
    {
        public Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default) =>
            Task.FromResult(runtime);
    }
}
