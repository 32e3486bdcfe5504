namespace Tango.ZooKeeper.Tests;

public sealed class AclRulesTests
{
    private static readonly AuthId s_address = new("ip", "10.1.2.3");
    private static readonly AuthId s_user = new("digest", "u:hash");
    private static readonly AuthId s_subject = new("x509", "CN=one");

    [Theory]
    [InlineData("world", "anyone", true)]
    [InlineData("world", "someone", false)]
    [InlineData("digest", "u:h", true)]
    [InlineData("digest", ":h", true)]
    [InlineData("digest", "u", false)]
    [InlineData("digest", "u:", false)]
    [InlineData("digest", "u:h:x", false)]
    [InlineData("digest", "", false)]
    [InlineData("ip", "10.0.0.0/8", true)]
    [InlineData("ip", "somewhere", false)]
    [InlineData("x509", "CN=a", true)]
    [InlineData("x509", "", false)]
    [InlineData("super", "", false)]
    [InlineData("sasl", "me", false)]
    [InlineData("ip", null, false)]
    [InlineData("world", null, false)]
    [InlineData(null, "anyone", false)]
    public void Entry_of_a_scheme_is_valid_by_the_schemes_rule(string? scheme, string? id, bool valid) =>
        Assert.Equal(valid, AclRules.Resolve([new AclEntry(Permissions.All, scheme, id)], []) is not null);

    [Fact]
    public void Null_and_empty_lists_are_refused()
    {
        Assert.Null(AclRules.Resolve(default, []));
        Assert.Null(AclRules.Resolve([], []));
    }

    [Fact]
    public void Duplicates_are_dropped()
    {
        var entry = new AclEntry(Permissions.Read, "digest", "u:h");
        var other = entry with { Permissions = Permissions.Write };
        Assert.Equal([entry, other], AclRules.Resolve([entry, other, entry], [])!.Entries);
    }

    [Fact]
    public void List_as_long_as_a_request_is_resolved()
    {
        var asked = Enumerable.Range(0, 100_000).Select(i => new AclEntry(Permissions.Read, "x509", $"{i / 2}"));
        Assert.Equal(50_000, AclRules.Resolve([.. asked], [])!.Entries.Length);
    }

    [Fact]
    public void Auth_stands_for_the_proved_ids_of_the_caller()
    {
        var resolved = AclRules.Resolve(
            [new AclEntry(Permissions.Read, "auth", "ignored")],
            [s_address, s_user, new AuthId("super", ""), s_subject]);
        Assert.Equal(
            [new AclEntry(Permissions.Read, "digest", "u:hash"), new AclEntry(Permissions.Read, "x509", "CN=one")],
            resolved!.Entries);
    }

    [Fact]
    public void Auth_of_a_caller_without_a_proved_id_is_refused() =>
        Assert.Null(AclRules.Resolve([new AclEntry(Permissions.Read, "auth", "")], [s_address]));

    [Fact]
    public void Matching_entry_gives_the_caller_the_permission()
    {
        var acl = List(
            new AclEntry(Permissions.Read, "world", "anyone"), new AclEntry(Permissions.Write, "digest", "u:hash"),
            new AclEntry(Permissions.Create, "ip", "10.1.0.0/16"), new AclEntry(Permissions.Admin, "x509", "CN=one"));
        Assert.True(AclRules.IsPermitted(acl, Permissions.Read, []));
        Assert.False(AclRules.IsPermitted(acl, Permissions.Write, [s_address, s_subject]));
        Assert.True(AclRules.IsPermitted(acl, Permissions.Write, [s_user]));
        Assert.True(AclRules.IsPermitted(acl, Permissions.Create, [s_address]));
        Assert.False(AclRules.IsPermitted(acl, Permissions.Create, [new AuthId("ip", "10.2.2.3")]));
        Assert.True(AclRules.IsPermitted(acl, Permissions.Admin, [s_subject]));
        Assert.False(AclRules.IsPermitted(acl, Permissions.Delete, [s_address, s_user, s_subject]));
        Assert.False(AclRules.IsPermitted(acl, Permissions.Write, [new AuthId("x509", "u:hash")]));
    }

    [Fact]
    public void Super_may_do_anything() =>
        Assert.True(AclRules.IsPermitted(
            List(new AclEntry(Permissions.None, "digest", "u:h")), Permissions.Admin, [new AuthId("super", "")]));

    [Fact]
    public void Digests_are_hidden_from_a_caller_without_rights_to_administer()
    {
        var acl = List(
            new AclEntry(Permissions.All, "digest", "u:secret"), new AclEntry(Permissions.Read, "ip", "::1"));
        Assert.Equal(["u:x", "::1"], acl.Redacted().Entries.Select(entry => entry.Id));
    }

    [Fact]
    public void Equal_lists_have_equal_hashes_and_other_orders_differ()
    {
        AclEntry a = new(Permissions.Read, "digest", "a:h"), b = new(Permissions.Read, "digest", "b:h");
        Assert.Equal(List(a, b), List(a, b));
        Assert.Equal(List(a, b).GetHashCode(), List(a, b).GetHashCode());
        Assert.NotEqual(List(a, b), List(b, a));
    }

    /// <summary>Permissions are any 32 bits: beside a known hash of the id they made any hash of the list.</summary>
    [Fact]
    public void Clients_cannot_choose_the_hash_of_a_list()
    {
        var hashes = Enumerable.Range(0, 100).Select(static i =>
        {
            var id = $"u{i}:h";
            var known = unchecked((int)PathKeys.Hash(id, 0) << 1);
            return List(new AclEntry((Permissions)known, "digest", id)).GetHashCode();
        });
        Assert.NotEqual(1, hashes.Distinct().Count());
    }

    private static AclList List(params ImmutableArray<AclEntry> entries) => new(entries);
}
