using System.Text;
using Corfu.Protocol;

namespace Corfu.Grpc.Tests.Access;

/// <summary>The access file: what it grants, and what is refused in it.</summary>
public sealed class AccessRulesTests
{
    private static readonly Principal s_billing = new(AccessRole.Caller, "billing");

    [Theory]
    [InlineData("objects:orders/1", true)]
    [InlineData("objects:orders/", true)]
    [InlineData("objects:orders", false)]
    [InlineData("objects:Orders/1", false)]
    [InlineData("objects:orders//1", true)]
    [InlineData("objects: orders/1", false)]
    [InlineData("objects:orders\u2215" + "1", false)]
    [InlineData("objects:orders/../secret", true)]
    [InlineData("objects:secret", false)]
    [InlineData("objects:\u200borders/1", false)]
    public void Prefix_covers_the_names_that_begin_with_exactly_the_same_code_points(string resource, bool covered) =>
        Assert.Equal(covered, Reads("objects:orders/*", ObjectOf(resource)));

    [Theory]
    [InlineData("caf\u00e9", "caf\u00e9", true)]
    [InlineData("caf\u00e9", "cafe\u0301", false)]
    [InlineData("straße", "strasse", false)]
    [InlineData("file", "ﬁle", false)]
    [InlineData("billing", "billing/", false)]
    [InlineData("billing", "BILLING", false)]
    [InlineData("billing", "billin", false)]
    public void Name_covers_no_other_spelling(string granted, string asked, bool covered) =>
        Assert.Equal(covered, Reads($"objects:{granted}", CorfuResource.Object(asked)));

    [Fact]
    public void Prefix_does_not_end_inside_a_character()
    {
        // A prefix that ends before a combining mark covers the name; a composed character is another one.
        Assert.True(Reads("objects:cafe*", CorfuResource.Object("cafe\u0301")));
        Assert.False(Reads("objects:cafe*", CorfuResource.Object("caf\u00e9")));
        Assert.True(Reads("objects:*", CorfuResource.Object("")));
    }

    [Fact]
    public void Stream_is_covered_by_name_and_by_id()
    {
        var audit = StreamId.FromName("audit");
        Assert.True(Reads("stream:audit", CorfuResource.Stream(audit)));
        Assert.False(Reads("stream:audit", CorfuResource.Stream(StreamId.FromName("Audit"))));
        Assert.False(Reads("stream:audit", CorfuResource.Stream(new StreamId(300))));
        Assert.False(Reads("stream:audit", CorfuResource.Log));
        Assert.False(Reads("stream:audit", CorfuResource.Object("audit")));
        Assert.True(Reads("stream:audit", CorfuResource.AnyStream));
        Assert.False(Reads("objects:*", CorfuResource.AnyStream));
    }

    [Fact]
    public void Log_covers_every_stream_and_no_object()
    {
        Assert.True(Reads("log", CorfuResource.Log));
        Assert.True(Reads("log", CorfuResource.Stream(StreamId.FromName("audit"))));
        Assert.True(Reads("log", CorfuResource.Stream(new StreamId(300))));
        Assert.False(Reads("log", CorfuResource.Object("orders/1")));
        Assert.False(Reads("objects:*", CorfuResource.Log));
        Assert.False(Reads("objects:*", CorfuResource.Stream(StreamId.FromName("audit"))));
    }

    [Fact]
    public void Roles_above_caller_need_no_grants()
    {
        var rules = AccessRules.None;
        foreach (var right in Enum.GetValues<AccessRight>())
        {
            var isChange = right is AccessRight.Trim or AccessRight.ClusterChange;
            Assert.True(rules.Allows(new Principal(AccessRole.Admin, "x"), right, CorfuResource.Log));
            Assert.True(rules.Allows(new Principal(AccessRole.Node, "x"), right, CorfuResource.Log));
            Assert.Equal(!isChange, rules.Allows(new Principal(AccessRole.Client, "x"), right, CorfuResource.Log));
            Assert.Equal(right == AccessRight.Caller, rules.Allows(s_billing, right, CorfuResource.Log));
            Assert.False(rules.Allows(new Principal(AccessRole.None, "x"), right, CorfuResource.Log));
        }
    }

    [Fact]
    public void Read_and_write_are_granted_apart()
    {
        var rules = Parse("""{ "callers": { "billing": { "write": ["objects:bills"] } } }""");
        Assert.True(rules.Allows(s_billing, AccessRight.Write, CorfuResource.Object("bills")));
        Assert.False(rules.Allows(s_billing, AccessRight.Read, CorfuResource.Object("bills")));
        Assert.False(rules.Allows(s_billing, AccessRight.ClusterRead, null));
        // Another name has nothing, whatever its case.
        Assert.False(rules.Allows(
            new Principal(AccessRole.Caller, "Billing"), AccessRight.Write, CorfuResource.Object("bills")));
    }

    [Theory]
    [InlineData("", "")]
    [InlineData("{}", "'callers' is missing")]
    [InlineData("null", "empty")]
    [InlineData("""{ "callers": { "billing": null } }""", "billing")]
    [InlineData("""{ "callers": { "billing": {}, "billing": {} } }""", "Duplicate")]
    [InlineData("""{ "callers": { "Billing": {} } }""", "no name of a certificate")]
    [InlineData("""{ "callers": { "billing": { "reads": [] } } }""", "reads")]
    [InlineData("""{ "Callers": {} }""", "Callers")]
    [InlineData("""{ "callers": { "billing": { "read": ["orders/*"] } } }""", "a scope is")]
    [InlineData("""{ "callers": { "billing": { "read": ["Log"] } } }""", "a scope is")]
    [InlineData("""{ "callers": { "billing": { "read": [null] } } }""", "a scope is")]
    [InlineData("""{ "callers": { "billing": { "read": ["objects:"] } } }""", "the name is missing")]
    [InlineData("""{ "callers": { "billing": { "read": ["objects:a*b"] } } }""", "at the end alone")]
    [InlineData("""{ "callers": { "billing": { "read": ["objects: a"] } } }""", "a space")]
    [InlineData("""{ "callers": { "billing": { "read": ["objects:a\u0000"] } } }""", "control character")]
    [InlineData("""{ "callers": { "billing": { "write": ["stream:a*"] } } }""", "no prefixes")]
    [InlineData("""{ "callers": { "billing": { "cluster": "change" } } }""", "role admin")]
    public void Fault_of_the_file_is_named(string json, string fault)
    {
        var refused = Assert.Throws<AccessFileException>(() => Parse(json));
        Assert.Contains(fault, refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void All_faults_are_named_at_once()
    {
        var refused = Assert.Throws<AccessFileException>(() => Parse(
            """{ "callers": { "billing": { "read": ["x"], "write": ["y"], "cluster": "z" } } }"""));
        Assert.All(
            (string[])["billing.read", "billing.write", "billing.cluster"],
            part => Assert.Contains(part, refused.Message, StringComparison.Ordinal));
    }

    private static CorfuResource ObjectOf(string resource) => CorfuResource.Object(resource["objects:".Length..]);

    private static bool Reads(string scope, CorfuResource resource) =>
        Parse($$"""{ "callers": { "billing": { "read": ["{{scope}}"] } } }""")
            .Allows(s_billing, AccessRight.Read, resource);

    private static AccessRules Parse(string json) => AccessRules.Parse(Encoding.UTF8.GetBytes(json));
}
