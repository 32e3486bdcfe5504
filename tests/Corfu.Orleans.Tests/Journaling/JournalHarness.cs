using System.Buffers;
using System.Text;
using Corfu.Client;
using Corfu.Orleans.Journaling;
using Corfu.Orleans.Journaling.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Journaling;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Journaling;

/// <summary>Storages of journals over one log in memory; each stands for an activation.</summary>
internal sealed class JournalHarness : IDisposable
{
    private readonly CorfuJournalOptions _options;
    private readonly JournalTrimmer _trimmer = new(4, NullLogger<JournalTrimmer>.Instance);

    public JournalHarness(InMemoryCorfuLog? log = null, CorfuJournalOptions? options = null)
    {
        Log = log ?? new InMemoryCorfuLog();
        _options = options ?? new CorfuJournalOptions();
    }

    public InMemoryCorfuLog Log { get; }

    public CorfuJournalStorage Open(string journal = "cart/1", string? format = "json") => new(
        new JournalId(journal), "test/" + journal, _ => Task.FromResult<ICorfuLog>(Log), _options, format, _trimmer);

    /// <summary>The trims that were asked for have ended.</summary>
    public async Task TrimmedAsync()
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        while (_trimmer.UnderWay > 0) await Task.Delay(1, limit.Token);
    }

    public static ReadOnlySequence<byte> Bytes(string text) => new(Encoding.UTF8.GetBytes(text));

    public static async Task<string> ReadAsync(IJournalStorage storage) => (await ReadAllAsync(storage)).Text;

    public static async Task<(string Text, IJournalMetadata? Metadata, bool IsCompleted)> ReadAllAsync(
        IJournalStorage storage)
    {
        var consumer = new Consumer();
        await storage.ReadAsync(consumer, default);
        return (consumer.Text.ToString(), consumer.Metadata, consumer.IsCompleted);
    }

    public void Dispose() => _trimmer.Dispose();

    private sealed class Consumer : IJournalStorageConsumer
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
        }
    }
}
