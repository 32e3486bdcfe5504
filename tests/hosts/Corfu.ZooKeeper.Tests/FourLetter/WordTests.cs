using System.Net;
using System.Text;
using Corfu.ZooKeeper.FourLetter;

namespace Corfu.ZooKeeper.Tests.FourLetter;

public sealed class WordTests
{
    private static readonly ServerFacts s_facts = new()
    {
        State = ServerState.Serving,
        Zxid = 0x10001,
        Nodes = 5,
        Requests = new RequestFigures(7, 9, 1, 0, 1.5, 20),
        Connections = [new ConnectionFacts(new IPEndPoint(IPAddress.Loopback, 4711), 7, 9, 0)],
        Settings = [new("clientPort", "2181")],
    };

    [Fact]
    public void Every_word_is_above_the_limit_of_a_frame()
    {
        foreach (var word in Words.Default)
        {
            var head = System.Buffers.Binary.BinaryPrimitives.ReadInt32BigEndian(Encoding.ASCII.GetBytes(word));
            Assert.Equal(word, Words.Find(head));
            Assert.True(head > Frames.MaxLength);
        }

        Assert.Null(Words.Find(45));
        Assert.Null(Words.Find(0x7A7A7A7A));
    }

    [Fact]
    public void Lines_of_stat_have_the_order_of_ZooKeeper()
    {
        var lines = Text("stat").Split('\n');
        Assert.StartsWith("Zookeeper version: 3.9.0-tango", lines[0], StringComparison.Ordinal);
        Assert.Equal(["Clients:", " /127.0.0.1:4711[1](queued=0,recved=7,sent=9)", "", "Latency min/avg/max: 0/1.5/20",
            "Received: 7", "Sent: 9", "Connections: 1", "Outstanding: 1", "Zxid: 0x10001", "Mode: standalone",
            "Node count: 5", ""], lines[1..]);
        Assert.Equal([lines[0], .. lines[4..]], Text("srvr").Split('\n'));
    }

    [Theory]
    [InlineData("ruok", "imok")]
    [InlineData("isro", "rw")]
    [InlineData("conf", "clientPort=2181\n")]
    [InlineData("cons", "cons is not executed because it is not in the whitelist.\n")]
    public void Words_have_the_answers_of_ZooKeeper(string word, string answer) => Assert.Equal(answer, Text(word));

    [Fact]
    public void Monitors_get_a_name_a_tab_and_a_value_a_line()
    {
        var values = Text("mntr").TrimEnd('\n').Split('\n').Select(line => line.Split('\t'))
            .ToDictionary(pair => pair[0], pair => pair[1]);
        Assert.Equal("5", values["zk_znode_count"]);
        Assert.Equal("1.5", values["zk_avg_latency"]);
        Assert.Equal("standalone", values["zk_server_state"]);
    }

    [Theory]
    [InlineData("srvr")]
    [InlineData("mntr")]
    public void Front_end_without_a_tree_says_that_no_client_is_served(string word)
    {
        var starting = s_facts with { State = ServerState.Starting };
        Assert.StartsWith("This ZooKeeper instance is not currently serving requests",
            Encoding.UTF8.GetString(Words.Answer(word, starting, Words.Default)), StringComparison.Ordinal);
        Assert.Equal("null", Encoding.UTF8.GetString(Words.Answer("isro", starting, Words.Default)));
    }

    [Fact]
    public void Answers_fit_into_one_read_of_old_clients()
    {
        var many = s_facts with { Connections = [.. Enumerable.Repeat(s_facts.Connections[0], 1000)] };
        Assert.Equal(8192, Words.Answer("stat", many, Words.Default).Length);
    }

    private static string Text(string word) => Encoding.UTF8.GetString(Words.Answer(word, s_facts, Words.Default));
}
