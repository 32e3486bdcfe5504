using System.Text;
using Corfu.Client;

namespace Corfu.Integration.Tests.Support;

/// <summary>Numbered entries of one stream: appended a few at a time, and read back all together.</summary>
internal static class Entries
{
    private static readonly StreamId Stream = StreamId.FromName("entries");

    public static async Task AppendAsync(CorfuClient client, int first, int count)
    {
        for (var i = first; i < first + count; i++)
            (await client.AppendAsync(Encoding.UTF8.GetBytes($"entry {i}"), [Stream])).Require();
    }

    /// <summary>The stream holds exactly the first entries, in their order.</summary>
    public static async Task RequireAsync(CorfuClient client, int count)
    {
        var stream = new StreamCursor(client, Stream);
        await stream.SyncAsync();
        var read = new List<string>();
        while (await stream.ReadNextAsync() is { } entry) read.Add(Encoding.UTF8.GetString(entry.Payload.Span));
        Assert.Equal(Enumerable.Range(0, count).Select(i => $"entry {i}"), read);
    }
}
