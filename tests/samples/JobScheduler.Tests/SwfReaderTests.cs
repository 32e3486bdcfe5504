using System.IO.Compression;
using System.Text;
using JobScheduler.Workloads;

namespace JobScheduler.Tests;

public sealed class SwfReaderTests
{
    private const string Good = "1 10 -1 60 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1";

    [Fact]
    public void Fields_are_taken_at_the_places_of_the_format()
    {
        Workload workload = Read($"; MaxNodes: 16\n{Good}\n");
        Assert.Equal(new Job(1, 10, 60, 4, 7), Assert.Single(workload.Jobs));
        Assert.Equal(16, workload.Nodes);
    }

    [Fact]
    public void Gzip_is_recognised_by_content()
    {
        var packed = new MemoryStream();
        using (var gzip = new GZipStream(packed, CompressionMode.Compress, leaveOpen: true))
            gzip.Write(Encoding.ASCII.GetBytes(Good));
        packed.Position = 0;
        Assert.Single(SwfReader.Read(packed, "t", 8).Jobs);
    }

    [Fact]
    public void Damaged_gzip_is_an_error_of_the_trace()
    {
        var packed = new MemoryStream();
        using (var gzip = new GZipStream(packed, CompressionMode.Compress, leaveOpen: true))
            gzip.Write(
                Encoding.ASCII.GetBytes(
                    string.Concat(Enumerable.Range(1, 500).Select(i => Good.Replace("1 10", $"{i} 10") + "\n"))));
        byte[] bytes = packed.ToArray();
        bytes[20] ^= 0xff;
        bytes[40] ^= 0xff;
        Assert.Throws<TraceFormatException>(() => SwfReader.Read(new MemoryStream(bytes), "t", 8));
    }

    [Theory]
    [InlineData("; MaxNodes: 16\n; MaxProcs: 32", 16)]
    [InlineData("; MaxProcs: 32\n; MaxNodes: 16", 16)]
    [InlineData("; MaxProcs: 32", 32)]
    [InlineData(";MaxProcs:32", 32)]
    [InlineData("; MaxNodes: -1\n; MaxProcs: 32", 32)]
    [InlineData("; MaxNodes: 16 (8 processors each)", 16)]
    [InlineData("; Computer: any", 8)]
    public void The_machine_is_MaxNodes_else_MaxProcs_else_the_option(string header, int nodes) =>
        Assert.Equal(nodes, Read($"{header}\n{Good}").Nodes);

    [Fact]
    public void Unknown_allocation_falls_back_to_the_request() =>
        Assert.Equal(6, Read(Line(size: "-1", requested: "6")).Jobs[0].Nodes);

    [Fact]
    public void Jobs_are_ordered_by_submit_time_then_number()
    {
        Workload workload = Read(string.Join('\n', Line(3, "5"), Line(2, "9"), Line(1, "9")));
        Assert.Equal([3L, 1L, 2L], workload.Jobs.Select(job => job.Number));
    }

    [Fact]
    public void A_run_time_of_zero_is_valid() => Assert.Equal(0, Read(Line(run: "0")).Jobs[0].RunSeconds);

    [Theory]
    [InlineData("run", "-1", "field 4 (run time)")]
    [InlineData("run", "x", "field 4 (run time)")]
    [InlineData("run", "1.5", "field 4 (run time)")]
    [InlineData("run", "99999999999999999999999", "field 4 (run time)")]
    [InlineData("submit", "-3", "field 2 (submit time)")]
    [InlineData("size", "9", "field 5 (allocated processors)")]
    [InlineData("size", "0", "field 5 (allocated processors)")]
    [InlineData("size", "-1", "field 8 (requested processors)")]
    public void Bad_field_is_reported_with_file_and_line(string what, string value, string field)
    {
        string bad = what switch
        {
            "run" => Line(2, run: value),
            "submit" => Line(2, value),
            _ =>
            Line(2, size: value)
        };
        var e = Assert.Throws<TraceFormatException>(() => Read($"; a comment\n{Good}\n{bad}\n"));
        Assert.Equal(3, e.Line);
        Assert.Equal(field, e.Field);
        Assert.StartsWith($"some.swf, line 3, {field}: ", e.Message);
    }

    [Fact]
    public void A_short_line_names_the_first_missing_field()
    {
        var e = Assert.Throws<TraceFormatException>(() => Read("1 10 -1 60 4"));
        Assert.Equal((1, "field 6 (average CPU time)"), (e.Line, e.Field));
    }

    [Fact]
    public void A_long_line_is_refused() =>
        Assert.Equal("field 19", Assert.Throws<TraceFormatException>(() => Read(Good + " 5")).Field);

    [Fact]
    public void A_job_number_given_twice_is_refused()
    {
        var e = Assert.Throws<TraceFormatException>(() => Read($"{Good}\n\n{Good}"));
        Assert.Equal((3, "field 1 (job number)"), (e.Line, e.Field));
    }

    [Theory]
    [InlineData("")]
    [InlineData("; MaxNodes: 4\n")]
    public void A_trace_without_jobs_is_refused(string text) => Assert.Throws<TraceFormatException>(() => Read(text));

    [Fact]
    public void A_missing_file_is_an_error_of_the_trace() =>
        Assert.Equal(0, Assert.Throws<TraceFormatException>(() => SwfReader.Read("/nonexistent/x.swf", 8)).Line);

    [Fact]
    public void Compressing_rounds_down_and_keeps_the_order()
    {
        Workload workload = Read(string.Join('\n', Line(1, "10"), Line(2, "11"), Line(3, "12"))).Compress(4);
        Assert.Equal([2L, 2L, 3L], workload.Jobs.Select(job => job.SubmitSeconds));
    }

    [Fact]
    public void The_fingerprint_changes_with_any_job_and_with_the_machine()
    {
        string original = Read(Good).Fingerprint();
        Assert.Equal(original, Read(Good).Fingerprint());
        Assert.NotEqual(original, Read(Line(run: "61")).Fingerprint());
        Assert.NotEqual(original, Read($"; MaxNodes: 16\n{Good}").Fingerprint());
    }

    private static Workload Read(string text) =>
        SwfReader.Read(new MemoryStream(Encoding.UTF8.GetBytes(text)), "some.swf", 8);

    private static string Line(int number = 1, string submit = "10", string run = "60", string size = "4",
        string requested = "-1") =>
        $"{number} {submit} -1 {run} {size} -1 -1 {requested} -1 -1 1 7 1 -1 -1 -1 -1 -1";
}
