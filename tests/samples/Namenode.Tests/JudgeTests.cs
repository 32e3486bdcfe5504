using NamenodeSample.Run;
using NamenodeSample.Serving;
using NamenodeSample.Tree;

namespace NamenodeSample.Tests;

/// <summary>The judge of a run finds what no correct namenode does.</summary>
public sealed class JudgeTests
{
    private static readonly Operation s_make = new(Verb.Mkdir, "/a");
    private static readonly Operation s_look = new(Verb.Status, "/a");

    private readonly Judge _judge = new();

    [Fact]
    public void Right_answers_match_in_any_order_of_hearing()
    {
        _judge.Play(
        [
            Read(s_look, Answers.Read, 1, "directory 1 493 "), Change("b", new Operation(Verb.Mkdir, "/b"), 2, "2"),
            Change("a", s_make, 1, "1"), Read(s_look, Answers.Refused, 0, "NotFound"),
        ]);
        Assert.Equal((true, 0, 2), (_judge.IsMatch, _judge.Lost, _judge.LastId));
    }

    [Fact]
    public void One_edit_for_two_operations_is_a_loss()
    {
        _judge.Play([Change("a", s_make, 1, "1"), Change("b", new Operation(Verb.Mkdir, "/b"), 1, "1")]);
        Assert.Equal((false, 1), (_judge.IsMatch, _judge.Lost));
    }

    [Fact]
    public void Edit_given_again_after_a_check_is_a_loss()
    {
        _judge.Play([Change("a", s_make, 1, "1")]);
        _judge.Play([Change("b", new Operation(Verb.Mkdir, "/b"), 1, "1")]);
        Assert.Equal((false, 1), (_judge.IsMatch, _judge.Lost));
    }

    [Fact]
    public void Edit_of_no_client_is_found()
    {
        _judge.Play([Change("a", s_make, 2, "1")]);
        Assert.False(_judge.IsMatch);
    }

    [Fact]
    public void Wrong_result_is_found()
    {
        _judge.Play([Change("a", s_make, 1, "2")]);
        Assert.False(_judge.IsMatch);
    }

    [Fact]
    public void Stale_read_is_found()
    {
        _judge.Play(
            [Change("a", s_make, 1, "1"), Read(s_look, Answers.Refused, 0, "NotFound") with { Known = 1 }]);
        Assert.False(_judge.IsMatch);
    }

    [Fact]
    public void Refusal_of_a_possible_operation_is_found()
    {
        _judge.Play([Read(s_make, Answers.Refused, 0, "Exists")]);
        Assert.False(_judge.IsMatch);
    }

    [Fact]
    public void Tree_without_an_acknowledged_edit_is_a_loss()
    {
        _judge.Play([Change("a", s_make, 1, "1")]);
        _judge.Compare("namenode-1", new NamespaceTree().Print());
        Assert.Equal((false, 1), (_judge.IsMatch, _judge.Lost));
    }

    [Fact]
    public void Tree_with_another_block_is_found()
    {
        var create = new Operation(Verb.Create, "/f");
        var tree = new NamespaceTree();
        tree.Do("a", 1, create);
        tree.Do("a", 1, new Operation(Verb.AddBlock, "/f", Value: 5));
        _judge.Play([Change("a", create, 1, "1"), Change("a", new Operation(Verb.AddBlock, "/f", Value: 6), 2, "1")]);
        _judge.Compare("namenode-1", tree.Print());
        Assert.Equal((false, 0), (_judge.IsMatch, _judge.Lost));
    }

    private static Answer Change(string client, Operation operation, long id, string text) =>
        new(client, 1, operation, Answers.Done, id, text, 0, "namenode-1");

    private static Answer Read(Operation operation, string kind, long id, string text) =>
        new("reader", 1, operation, kind, id, text, 0, "namenode-1");
}
