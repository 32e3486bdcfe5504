using System.Text.Json;
using System.Text.Json.Nodes;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Tango;
using Tango.Collections;
using static Corfu.Integration.Tests.Support.CorfuTool;

namespace Corfu.Integration.Tests.Tool;

/// <summary>The commands about Tango's objects and the trim point, against an embedded cluster: their exact
/// output.</summary>
public sealed class TangoCommandTests
{
    [Fact]
    public async Task Operator_sees_objects_and_pins_and_cannot_trim_needed_history_by_accident()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        var c = cluster.ConnectionString;
        await Expect("", "object", "list", "--connect", c, "--json");
        await WriteObjectsAsync(cluster);

        await Expect(
            """
            NAME   ID   TYPE                            GROUP  NEEDS FROM  CHECKPOINT
            left   257  tango.register<string>          pair   3           none
            names  256  tango.dictionary<string,int32>  -      0           none
            right  258  tango.register<string>          pair   3           none

            """,
            "object", "list", "--connect", c);
        await Expect(
            """
            right: object 258, type tango.register<string>
            a member of the group pair
            needs the log from 3 on
            no checkpoint
            keeps the versions of 65536 keys

            """,
            "object", "show", "--connect", c, "right");
        await Refuse(1, "There is no object 'nope'. 'corfu object list' names all.\n", "object", "show", "--connect", c,
            "nope");

        var status = (await CorfuTool.RunAsync("status", "--connect", c)).Require();
        Assert.Contains(
            status.Lines,
            line => line.StartsWith("trim point 0; pinned at 0 (written ", StringComparison.Ordinal)
                && line.Contains(" by the directory, object names; 5 positions held, ", StringComparison.Ordinal));
        using var json = JsonDocument.Parse(
            (await CorfuTool.RunAsync("status", "--connect", c, "--json")).Require().Output);
        Assert.Equal(2, json.RootElement.GetProperty("trim").GetProperty("pins").GetArrayLength());

        const string group = "a client that knows all types of group pair (else: corfu object delete MEMBER)";
        await Refuse(
            1,
            $"""
            Nothing was trimmed: history below 4 is still needed.
              the directory of objects from 0 on: rises with its checkpoints, by any client
              object names from 0 on (no checkpoint): a client that knows its type makes checkpoints
              object left from 3 on (no checkpoint): {group} makes checkpoints
            Everything below 0 can be trimmed; --force trims the rest and loses it.

            """,
            "log", "trim", "--connect", c, "--below", "4");
        await Says(
            1,
            """
            {"trimmed":false,"below":4,"claims":[{"kind":"directory","name":"tango/directory","needsFrom":0},
            {"kind":"object","name":"names","needsFrom":0},{"kind":"object","name":"left","needsFrom":3}]}
            """,
            "log", "trim", "--connect", c, "--below", "4", "--json");
        await Refuse(1, "The log ends at 5: nothing above that can be trimmed.\n", "log", "trim", "--connect", c,
            "--below", "6");
        await Refuse(2, "--force goes with --below P.\nSee 'corfu log trim --help'.\n", "log", "trim", "--connect", c,
            "3", "--force");

        var forced = (await CorfuTool.RunAsync("log", "trim", "--connect", c, "--below", "3", "--force")).Require();
        Assert.Equal(
            """
            Lost with the history below 3:
              the directory: no object of the log can be opened any more
              object names: cannot be opened any more

            """,
            forced.Error);
        await Refuse(3, "2: trimmed\n", "log", "read", "--connect", c, "2");
        var unknown = (await CorfuTool.RunAsync("status", "--connect", c)).Require();
        Assert.Contains(
            unknown.Lines, line => line.StartsWith("trim point: not known: ", StringComparison.Ordinal)
                && line.Contains("trimmed", StringComparison.Ordinal));
        await Refuse(
            1,
            "The directory of Tango objects has lost history and cannot say what is needed. --force trims without "
            + "asking.\n",
            "log", "trim", "--connect", c, "--below", "4");
    }

    [Fact]
    public async Task Raw_streams_are_declared_once()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        var c = cluster.ConnectionString;
        (await CorfuTool.RunWithInputAsync("raw", "log", "append", "--connect", c, "--stream", "orders")).Require();
        await WriteObjectsAsync(cluster);
        var orders = StreamId.FromName("orders").Value;
        await Expect($"STREAM  ID                    KEPT\n-       {orders}  undeclared\n", "stream", "list",
            "--connect", c);
        var status = (await CorfuTool.RunAsync("status", "--connect", c)).Require();
        Assert.Contains($"undeclared raw streams: {orders} (corfu stream retain|release)", status.Lines);

        await Expect("", "stream", "retain", "--connect", c, "--stream", "orders", "--from", "0");
        await Expect("", "stream", "release", "--connect", c, "--no-stream");
        await Expect(
            $$"""
            {"id":0,"name":"(no stream)","declared":true}
            {"id":{{orders}},"name":"orders","declared":true,"retainFrom":0}

            """,
            "stream", "list", "--connect", c, "--json");
        var refused = await CorfuTool.RunAsync("log", "trim", "--connect", c, "--below", "1");
        Assert.Contains("  stream orders from 0 on: corfu stream release --stream orders", refused.Error.Split('\n'));
        await Expect("", "stream", "release", "--connect", c, "--stream", "orders");
        refused = await CorfuTool.RunAsync("log", "trim", "--connect", c, "--below", "1");
        Assert.DoesNotContain("stream orders", refused.Error);
        Assert.Contains("the directory of objects from 0 on", refused.Error);
        await Refuse(1, "Stream 256 is no raw stream\n", "stream", "release", "--connect", c, "--stream", "256");
        await Refuse(2, "Name a stream with --stream, or give --no-stream.\nSee 'corfu stream retain --help'.\n",
            "stream", "retain", "--connect", c);
    }

    [Fact]
    public async Task Objects_and_groups_are_deleted_on_demand_only()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        var c = cluster.ConnectionString;
        await WriteObjectsAsync(cluster);
        await Refuse(1,
            "Nothing was deleted. With --yes these are, for good: names (tango.dictionary<string,int32>)\n", "object",
            "delete", "--connect", c, "names");
        await Refuse(1, "There is no group 'names'\n", "object", "delete", "--connect", c, "--group", "names");
        await Refuse(1,
            "Nothing was deleted. 'left' is the first member of the group 'pair' and goes with --group pair only\n",
            "object", "delete", "--connect", c, "left");
        await Refuse(1,
            "'left' is the first member of the group 'pair', and goes with the group as a whole only\n", "object",
            "delete", "--connect", c, "left", "--yes");
        await Refuse(1, "There is no object 'nope'\n", "object", "delete", "--connect", c, "nope", "--yes");
        await Refuse(2, "Give either a name or --group GROUP.\nSee 'corfu object delete --help'.\n", "object", "delete",
            "--connect", c, "names", "--group", "pair");
        await Says(
            0,
            """
            {"deleted":true,"objects":[
            {"name":"left","id":257,"type":"tango.register<string>","group":"pair",
            "versionCapacity":65536,"needsFrom":3},
            {"name":"right","id":258,"type":"tango.register<string>","group":"pair",
            "versionCapacity":65536,"needsFrom":3}]}
            """,
            "object", "delete", "--connect", c, "--group", "pair", "--yes", "--json");
        var left = (await CorfuTool.RunAsync("object", "list", "--connect", c, "--json")).Require();
        Assert.Contains("\"name\":\"names\"", Assert.Single(left.Lines), StringComparison.Ordinal);
    }

    /// <summary>A newer program added the member and wrote it, and was withdrawn: the operator says that it is
    /// gone.</summary>
    [Fact]
    public async Task A_member_that_is_deleted_leaves_a_group_that_is_checkpointed_again()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        var c = cluster.ConnectionString;
        await using var client = await cluster.ConnectAsync();
        await using var runtime = new TangoRuntime(client);
        TangoRegister<string> left = null!;
        await runtime.OpenGroupAsync("pair", group => left = group.Add<TangoRegister<string>>("left"));
        await using (var newer = new TangoRuntime(client))
        {
            TangoCounter added = null!;
            await newer.OpenGroupAsync("pair", group => added = group.Add<TangoCounter>("added"));
            await added.AddAsync(1);
        }

        await left.WriteAsync("value");
        await Assert.ThrowsAsync<TangoDirectoryException>(async () => await runtime.Checkpoints.WriteAsync(left));
        await Refuse(1,
            "Nothing was deleted. With --yes this member is, for good, and its group 'pair' goes on: added "
            + "(tango.counter)\n", "object", "delete", "--connect", c, "added");
        await Expect("", "object", "delete", "--connect", c, "added", "--yes");
        await Refuse(1, "There is no object 'added'\n", "object", "delete", "--connect", c, "added", "--yes");
        await runtime.Checkpoints.WriteAsync(left);
        await Expect(
            $"""
            NAME  ID   TYPE                    GROUP  NEEDS FROM  CHECKPOINT
            left  256  tango.register<string>  pair   0           {await NewestAsync()}

            """,
            "object", "list", "--connect", c);

        async Task<long> NewestAsync() =>
            (await runtime.Log.ReadTrimPointAsync()).Claims
            .Single(static claim => claim.Group == "pair").Checkpoint!.Value
                .Offset;
    }

    [Theory]
    [InlineData(199_999, false)]
    [InlineData(200_000, true)]
    public async Task A_group_that_holds_the_log_for_long_names_the_command_that_removes_a_member(
        long held, bool isNamed)
    {
        using var output = new StringWriter();
        var pin = new Cli.PinJson("object", "left", 7, false, "pair");
        await Cli.StatusReport.WriteAsync(output, new Cli.StatusJson(
            "OK", true, new Cli.ProjectionJson(1, 0, "s", [], "first"), 1, 0, held, null, null, [], [], [], 0,
            new Cli.TrimJson(0, 3, held, null, [pin], 1, [], null)));
        var text = output.ToString();
        Assert.Contains(" by object left (group pair); ", text, StringComparison.Ordinal);
        Assert.Equal(isNamed, text.Contains("corfu object delete removes one", StringComparison.Ordinal));
    }

    [Fact]
    public async Task History_of_an_object_is_listed_without_the_type()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        var c = cluster.ConnectionString;
        await WriteObjectsAsync(cluster);
        await MoveAsync(cluster);
        var names = (await RunAsync("object", "history", "--connect", c, "names", "--json")).Require();
        Assert.Equal(
            [
                """{"position":1,"index":0,"kind":"update","mutators":[1]}""",
                """{"position":2,"index":0,"kind":"update","mutators":[1]}""",
                "{\"position\":5,\"index\":0,\"kind\":\"commit\",\"mutators\":[],\"transaction\":"
                + "{\"position\":5,\"index\":0},\"reads\":true}",
                "{\"position\":6,\"index\":0,\"kind\":\"decision\",\"mutators\":[],\"transaction\":"
                + "{\"position\":5,\"index\":0},\"committed\":true}",
            ],
            names.Lines.Select(WithoutTime));
        var left = (await RunAsync("object", "history", "--connect", c, "left", "--from", "5", "--limit", "2"))
            .Require();
        Assert.Equal(["RECORD", "TIME", "KIND", "MUTATORS", "TRANSACTION"],
            left.Lines[0].Split(' ', StringSplitOptions.RemoveEmptyEntries));
        Assert.Equal(3, left.Lines.Length);
        Assert.Matches(@"^5\.0 +\d{4}-\d\d-\d\dT[0-9:.]+Z +commit +1 +writes only$", left.Lines[1]);
        Assert.Matches(@"^6\.0 +.* +decision +- +5\.0 committed$", left.Lines[2]);
        await Refuse(1, "There is no object 'nope'. 'corfu object list' names all.\n", "object", "history", "--connect",
            c, "nope");
        await Refuse(
            1,
            """
            No checkpoint was made: this tool does not know the type tango.register<string>.
            Open 'left' in a program that does. It makes checkpoints by itself, or at once with
            RuntimeCheckpoints.WriteAsync. The newest checkpoint is still to come.

            """,
            "object", "checkpoint", "--connect", c, "left");
    }

    [Fact]
    public async Task Fork_names_the_source()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        var c = cluster.ConnectionString;
        await WriteObjectsAsync(cluster);
        await using var client = await cluster.ConnectAsync();
        await using var runtime = new TangoRuntime(client);
        var names = await runtime.OpenAsync<TangoDictionary<string, int>>("names", OpenMode.Create);
        var made = await runtime.History.ForkAsync("names", new LogPosition(2), "fork");
        Assert.Equal(1, await (await runtime.OpenAsync<TangoDictionary<string, int>>("fork")).CountAsync());
        Assert.Equal(2, await names.CountAsync());
        await Expect(
            $"""
            fork: object 259, type tango.dictionary<string,int32>
            forked from names at 2
            needs the log from {made.Created.Offset} on
            newest checkpoint: of everything below {made.Created.Offset}
            keeps the versions of 65536 keys

            """,
            "object", "show", "--connect", c, "fork");
        await Says(
            0,
            $$"""
            {"name":"fork","id":259,"type":"tango.dictionary<string,int32>","versionCapacity":65536,
            "needsFrom":{{made.Created.Offset}},"checkpoint":{{made.Created.Offset}},
            "forkedFrom":"names","forkedAt":2}
            """,
            "object", "show", "--connect", c, "fork", "--json");
    }

    [Fact]
    public async Task Level_and_retention_are_shown_and_set()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        var c = cluster.ConnectionString;
        await Expect("1 (this tool knows levels up to 3)\n", "tango", "level", "--connect", c);
        await Expect("{\"level\":2,\"newest\":3}\n", "tango", "level", "raise", "2", "--connect", c, "--json");
        await Refuse(2,
            "This tool knows the levels 1 to 3, not 4. A newer version of it may know more.\n"
            + "See 'corfu tango level raise --help'.\n",
            "tango", "level", "raise", "4", "--connect", c);
        await Expect("9 positions below the tail, entries younger than 12:00:00\n", "tango", "retain", "--connect", c,
            "--positions", "9", "--time", "12h");
        await Expect("{\"positions\":9,\"seconds\":43200}\n", "tango", "retain", "--connect", c, "--json");
        await Expect("only what is needed\n", "tango", "retain", "--connect", c, "--nothing");
        await Refuse(2,
            "'12' is no time: a number with s, m, h or d, as in 12h.\nSee 'corfu tango retain --help'.\n",
            "tango", "retain", "--connect", c, "--time", "12");
    }

    private static async Task WriteObjectsAsync(EmbeddedCluster cluster)
    {
        await using var client = await cluster.ConnectAsync();
        await using var runtime = new TangoRuntime(client);
        var names = await runtime.OpenAsync<TangoDictionary<string, int>>("names", OpenMode.Create);
        await names.SetAsync("corfu", 7);
        await names.SetAsync("tango", 8);
        TangoRegister<string> left = null!;
        await runtime.OpenGroupAsync("pair", group =>
        {
            left = group.Add<TangoRegister<string>>("left");
            group.Add<TangoRegister<string>>("right");
        });
        await left.WriteAsync("value");
    }

    /// <summary>A transaction that reads one object and writes another.</summary>
    private static async Task MoveAsync(EmbeddedCluster cluster)
    {
        await using var client = await cluster.ConnectAsync();
        await using var runtime = new TangoRuntime(client);
        var names = await runtime.OpenAsync<TangoDictionary<string, int>>("names", OpenMode.Create);
        TangoRegister<string> left = null!;
        await runtime.OpenGroupAsync("pair", group =>
        {
            left = group.Add<TangoRegister<string>>("left");
            group.Add<TangoRegister<string>>("right");
        });
        await using var transaction = runtime.BeginTx();
        await left.WriteAsync($"{(await names.TryGetAsync("corfu")).Value}");
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        // The decision record follows on its own.
        var decided = new StreamCursor(client);
        decided.Add(new StreamId(256), LogPosition.Zero);
        for (var entries = 0; entries < 4;)
        {
            await decided.SyncAsync();
            while (await decided.ReadNextAsync() is not null) entries++;
        }
    }

    private static string WithoutTime(string line)
    {
        var record = JsonNode.Parse(line)!.AsObject();
        Assert.True(record.Remove("time"));
        return record.ToJsonString();
    }

    /// <summary>JSON on standard output; the expected one may be broken into lines.</summary>
    private static async Task Says(int exitCode, string json, params string[] arguments)
    {
        var result = await RunAsync(arguments);
        Assert.Equal((exitCode, json.ReplaceLineEndings("") + "\n"), (result.ExitCode, result.Output));
    }
}
