using System.Buffers;
using Corfu.Cli;
using MessagePack;

namespace Corfu.Integration.Tests.Tool;

/// <summary>The JSON of each kind of Tango's records in <c>corfu log dump --json</c>: part of the tool's
/// interface.</summary>
public sealed class DumpedRecordTests
{
    // Keys and arguments are bytes that hold MessagePack themselves.
    private static readonly byte[] s_key = Encode("\"a\"");
    private static readonly byte[] s_arguments = Encode("[7]");

    [Fact]
    public void An_update() => Expect(
        """{"kind":"update","object":256,"mutator":1,"key":["a"],"arguments":[7]}""",
        Record(1, 256, 1, s_key, s_arguments));

    [Fact]
    public void An_update_of_the_whole_object() => Expect(
        """{"kind":"update","object":256,"mutator":7,"arguments":[7]}""", Record(1, 256, 7, null, s_arguments));

    [Fact]
    public void A_commit() => Expect(
        """
        {"kind":"commit","flags":1,"snapshot":40,"reads":[{"object":256,"keys":[["a"]]},{"object":257}],
        "writes":[{"object":258,"mutator":2,"key":["a"],"arguments":[7]}],
        "spills":[{"position":39,"index":1,"objects":[258,259]}]}
        """,
        Record(2, 1, 40, new object?[] { new object?[] { 256, new object?[] { s_key } }, new object?[] { 257, null } },
            new object?[] { new object?[] { 258, 2, s_key, s_arguments } },
            new object?[] { new object?[] { 39, 1, new object?[] { 258, 259 } } }));

    [Fact]
    public void A_decision_that_commits() => Expect(
        """{"kind":"decision","position":41,"index":0,"aborted":null}""", Record(3, 41, 0, null));

    [Fact]
    public void A_decision_that_aborts() => Expect(
        """
        {"kind":"decision","position":41,"index":2,
        "aborted":{"reason":1,"object":256,"key":["a"],"position":40,"index":3}}
        """,
        Record(3, 41, 2, new object?[] { 1, 256, s_key, 40, 3 }));

    [Fact]
    public void A_spill() => Expect(
        """{"kind":"spill","writes":[{"object":258,"mutator":2,"key":["a"],"arguments":[7]}]}""",
        Record(4, new object?[] { new object?[] { 258, 2, s_key, s_arguments } }));

    [Fact]
    public void Checkpoint_record_and_chunk_are_shown()
    {
        Expect(
            """
            {"kind":"checkpoint","oldestReader":1,"end":90,"parts":[100,20],"check":4000000000,"positions":[91,92]}
            """,
            Record(5, 1, 90, new object?[] { 100, 20 }, 4_000_000_000, new object?[] { 91, 92 }));
        Expect("""{"kind":"chunk","index":1,"check":5,"length":3}""", Record(6, 1, 5, new byte[3]));
    }

    [Fact]
    public void Record_without_known_names_is_shown_raw()
    {
        Expect("""{"kind":"7","more":[256,77]}""", Record(7, 256, 77));
        Expect("""{"kind":"200","more":["new"]}""", Record(200, "new"));
        Expect("""{"kind":"decision","position":41,"index":0,"aborted":null,"more":[9]}""", Record(3, 41, 0, null, 9));
        // The kind is known, but its records are longer.
        Expect("""{"kind":"decision","more":[41]}""", Record(3, 41));
    }

    private static void Expect(string json, object?[] record)
    {
        object?[] entry = [2, 17UL, 3, new object?[] { record }];
        var buffer = new ArrayBufferWriter<byte>();
        var writer = new MessagePackWriter(buffer);
        Write(ref writer, entry);
        writer.Flush();
        Assert.Equal(json.ReplaceLineEndings(""),
            Assert.Single(TangoRecords.Read(buffer.WrittenMemory)).GetRawText());
    }

    private static object?[] Record(params object?[] elements) => elements;

    private static byte[] Encode(string json) => MessagePackSerializer.ConvertFromJson(json);

    private static void Write(ref MessagePackWriter writer, object? value)
    {
        switch (value)
        {
            case null:
                writer.WriteNil();
                break;
            case byte[] bytes:
                writer.Write(bytes);
                break;
            case string text:
                writer.Write(text);
                break;
            case object?[] elements:
                writer.WriteArrayHeader(elements.Length);
                foreach (var element in elements) Write(ref writer, element);
                break;
            default:
                writer.Write(Convert.ToUInt64(value, System.Globalization.CultureInfo.InvariantCulture));
                break;
        }
    }
}
