using System.Buffers.Binary;
using System.Text;

namespace Corfu.ZooKeeper.FourLetter;

/// <summary>ZooKeeper's words of four letters, which monitors send instead of a first frame.</summary>
internal static class Words
{
    /// <summary>Clients of the time of ZooKeeper 3.4 read an answer by one call, with a buffer of this size.</summary>
    private const int MaxAnswer = 8192;

    private const int WordSize = 4;
    private const string NotServing = "This ZooKeeper instance is not currently serving requests\n";

    private static readonly string[] s_needService =
        ["srvr", "stat", "mntr", "wchs", "wchc", "wchp", "cons", "dump", "dirs"];

    private static readonly string[] s_known = ["ruok", "isro", "envi", "srvr", "stat", "mntr", "conf", "dirs", "wchs",
        "srst", "crst", "cons", "dump", "wchc", "wchp"];

    /// <summary>Words that every client may send.</summary>
    public static ImmutableArray<string> Default { get; } =
        ["ruok", "isro", "envi", "srvr", "stat", "mntr", "conf", "dirs", "wchs", "srst", "crst"];

    /// <param name="head">First four bytes of a connection.</param>
    /// <returns>Null: no word.</returns>
    public static string? Find(int head)
    {
        Span<byte> bytes = stackalloc byte[WordSize];
        BinaryPrimitives.WriteInt32BigEndian(bytes, head);
        foreach (var word in s_known)
        {
            if (Ascii.Equals(bytes, word)) return word;
        }

        return null;
    }

    /// <summary>The answer, for one write.</summary>
    /// <param name="word">From <see cref="Find"/>.</param>
    /// <param name="open">Words that the operator allows.</param>
    public static byte[] Answer(string word, ServerFacts facts, ImmutableArray<string> open)
    {
        var text = !open.Contains(word) ? $"{word} is not executed because it is not in the whitelist.\n"
            : facts.State is ServerState.Starting or ServerState.Stopped && s_needService.Contains(word) ? NotServing
            : TextOf(word, facts);
        var bytes = Encoding.UTF8.GetBytes(text);
        return bytes.Length <= MaxAnswer ? bytes : bytes[..MaxAnswer];
    }

    private static string TextOf(string word, ServerFacts facts) => word switch
    {
        "ruok" => "imok",
        "isro" => facts.State switch
        {
            ServerState.Serving => "rw",
            ServerState.ReadOnly => "ro",
            _ => "null",
        },
        "envi" => EnvironmentWord.Text(),
        "srvr" => StatusWords.Server(facts),
        "stat" => StatusWords.ServerAndClients(facts),
        "cons" => StatusWords.Clients(facts),
        "mntr" => MonitorWord.Text(facts),
        "conf" => string.Concat(facts.Settings.Select(static setting => $"{setting.Key}={setting.Value}\n")),
        "dirs" => "datadir_size: 0\nlogdir_size: 0\n",
        "wchs" => $"{facts.WatchingConnections} connections watching {facts.WatchedPaths} paths\n"
            + $"Total watches:{facts.Watches}\n",
        "srst" => "Server stats reset.\n",
        "crst" => "Connection stats reset.\n",
        _ => "",
    };
}
