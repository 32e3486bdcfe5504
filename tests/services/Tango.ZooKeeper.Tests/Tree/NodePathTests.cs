namespace Tango.ZooKeeper.Tests;

public sealed class NodePathTests
{
    [Theory]
    [InlineData("/")]
    [InlineData("/a")]
    [InlineData("/a/b")]
    [InlineData("/...")]
    [InlineData("/.a")]
    [InlineData("/a.")]
    [InlineData("/..a/b..")]
    [InlineData("/ ")]
    [InlineData("/\u00a0\uf900\uffef")]
    public void Path_of_a_node_is_valid(string path) => Assert.True(NodePath.IsValid(path));

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("a")]
    [InlineData("a/b")]
    [InlineData("/a/")]
    [InlineData("//")]
    [InlineData("/a//b")]
    [InlineData("/.")]
    [InlineData("/..")]
    [InlineData("/./a")]
    [InlineData("/a/../b")]
    [InlineData("/a/.")]
    [InlineData("/\0")]
    [InlineData("/\u0001")]
    [InlineData("/\u001f")]
    [InlineData("/\u007f")]
    [InlineData("/\u009f")]
    [InlineData("/\ue000")]
    [InlineData("/\uf8ff")]
    [InlineData("/\ufff0")]
    [InlineData("/\uffff")]
    [InlineData("/\U0001F600")]
    public void Invalid_path_is_refused(string? path) => Assert.False(NodePath.IsValid(path));

    [Theory]
    [InlineData("/", "/")]
    [InlineData("/a", "/")]
    [InlineData("/a/b", "/a")]
    [InlineData("/a/", "/a")]
    [InlineData("a/b", "a")]
    [InlineData("a", null)]
    [InlineData("", null)]
    [InlineData(null, null)]
    [InlineData("/a\0/b", null)]
    public void Parent_is_the_path_before_the_last_slash(string? path, string? parent) =>
        Assert.Equal(parent, NodePath.ParentOf(path));
}
