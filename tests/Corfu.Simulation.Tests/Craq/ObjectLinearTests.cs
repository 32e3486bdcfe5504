namespace Corfu.Simulation.Tests.Craq;

/// <summary>Planted errors in histories of objects: a checker that cannot fail proves nothing.</summary>
public sealed class ObjectLinearTests
{
    private readonly ObjectHistory _history = new();
    private int _id;

    [Fact]
    public void Sequential_history_passes()
    {
        Put("x", "a", 1, 2, version: 5);
        Read("x", 5, "a", 3, 4);
        Write(5, 6, 6, new ObjectAct("x", ObjectActKind.Append, "b"));
        Read("x", 6, "ab", 7, 8);
        Write(9, 10, 7, new ObjectAct("x", ObjectActKind.Delete));
        Read("x", 0, null, 11, 12);
        Read("x", 7, null, 13, 14);
        Passes();
    }

    [Fact]
    public void Stale_strong_read_is_found()
    {
        Put("x", "a", 1, 2, version: 5);
        Put("x", "b", 3, 4, version: 6);
        Read("x", 5, "a", 5, 6);
        Finds();
    }

    [Fact]
    public void Concurrent_read_may_be_older()
    {
        Put("x", "a", 1, 2, version: 5);
        Put("x", "b", 3, 8, version: 6);
        Read("x", 5, "a", 4, 9);
        Passes();
    }

    [Fact]
    public void Read_that_goes_back_is_found_while_the_write_is_under_way()
    {
        Put("x", "a", 1, 2, version: 5);
        Put("x", "b", 3, 20, version: 6);
        Read("x", 6, "b", 4, 5);
        Read("x", 5, "a", 6, 7);
        Finds();
    }

    [Fact]
    public void Versions_against_real_time_are_found_across_objects()
    {
        Put("x", "a", 1, 2, version: 9);
        Put("y", "b", 3, 4, version: 8);
        Finds();
    }

    [Fact]
    public void Version_with_two_contents_is_found_in_weak_reads()
    {
        Put("x", "a", 1, 2, version: 5);
        Read("x", 5, "a", 3, 4);
        _history.Calls.Add(new ObjectCall("e", "c", ObjectMode.Eventual, 5, 6, ObjectFate.Done)
        {
            Seen = [new ObjectSeen("x", 5, "other")],
        });
        Finds();
    }

    [Fact]
    public void Lost_increment_is_found()
    {
        Put("n", "5", 1, 2, version: 5);
        Write(3, 4, 6, new ObjectAct("n", ObjectActKind.Add, Delta: 1, Sum: 6));
        Write(5, 6, 7, new ObjectAct("n", ObjectActKind.Add, Delta: 1, Sum: 6));
        Finds();
    }

    [Fact]
    public void Increments_wrap_upwards_and_stop_downwards()
    {
        Put("n", "18446744073709551615", 1, 2, version: 5);
        Write(3, 4, 6, new ObjectAct("n", ObjectActKind.Add, Delta: 2, Sum: 1));
        Write(5, 6, 7, new ObjectAct("n", ObjectActKind.Add, Delta: -3, Sum: 0));
        Passes();
    }

    [Fact]
    public void Unknown_write_may_take_effect_late_or_never()
    {
        Put("x", "a", 1, 2, version: 5);
        Unknown(3, 4, new ObjectAct("x", ObjectActKind.Put, "u"));
        Put("x", "b", 5, 6, version: 6);
        Read("x", 9, "u", 7, 8);
        Unknown(9, 10, new ObjectAct("x", ObjectActKind.Put, "never"));
        Read("x", 9, "u", 11, 12);
        Passes();
    }

    [Fact]
    public void Unknown_write_does_not_take_effect_twice()
    {
        Put("x", "a", 1, 2, version: 5);
        Unknown(3, 4, new ObjectAct("x", ObjectActKind.Put, "u"));
        Read("x", 6, "u", 5, 6);
        Put("x", "b", 7, 8, version: 7);
        Read("x", 8, "u", 9, 10);
        Finds();
    }

    [Fact]
    public void Unknown_write_does_not_take_effect_before_the_call()
    {
        Read("x", 6, "u", 1, 2);
        Unknown(3, 4, new ObjectAct("x", ObjectActKind.Put, "u"));
        Finds();
    }

    [Fact]
    public void Unknown_append_between_known_ones_is_placed()
    {
        Put("l", "", 1, 2, version: 5);
        Write(3, 4, 6, new ObjectAct("l", ObjectActKind.Append, "a"));
        Unknown(5, 20, new ObjectAct("l", ObjectActKind.Append, "u"));
        Write(7, 8, 8, new ObjectAct("l", ObjectActKind.Append, "b"));
        Write(9, 10, 9, new ObjectAct("l", ObjectActKind.Append, "c"));
        Read("l", 9, "aubc", 11, 12);
        Passes();
    }

    [Fact]
    public void Refusal_by_a_version_that_was_lost_is_found()
    {
        Put("x", "a", 1, 2, version: 5);
        Refuse(3, 4, 6, new ObjectTest("x", ObjectTestKind.Version, 5));
        Read("x", 5, "a", 5, 6);
        Finds();
    }

    [Fact]
    public void Wrong_refusal_is_found()
    {
        Put("x", "a", 1, 2, version: 5);
        Refuse(3, 4, 5, new ObjectTest("x", ObjectTestKind.Version, 5));
        Finds();
    }

    [Fact]
    public void Wrong_test_and_set_is_found()
    {
        Put("x", "a", 1, 2, version: 5);
        Put("x", "b", 3, 4, version: 6);
        _history.Calls.Add(new ObjectCall("w", "c", ObjectMode.Mutate, 5, 6, ObjectFate.Done)
        {
            Version = 7,
            Tests = [new ObjectTest("x", ObjectTestKind.Version, 5)],
            Acts = [new ObjectAct("x", ObjectActKind.Put, "c")],
        });
        Finds();
    }

    [Fact]
    public void Absent_read_of_a_living_object_is_found()
    {
        Put("x", "a", 1, 2, version: 5);
        Read("x", 0, null, 3, 4);
        Finds();
    }

    [Fact]
    public void Absent_read_may_stand_before_the_write_or_behind_an_unknown_deletion()
    {
        Read("x", 0, null, 1, 3);
        Put("x", "a", 2, 4, version: 5);
        Unknown(5, 6, new ObjectAct("x", ObjectActKind.Delete));
        Read("x", 0, null, 7, 8);
        Passes();
    }

    [Fact]
    public void Clear_is_a_deletion_of_every_object()
    {
        Put("x", "a", 1, 2, version: 5);
        Write(3, 4, 6, new ObjectAct("*", ObjectActKind.Clear));
        Read("x", 0, null, 5, 6);
        Passes();
        Read("x", 5, "a", 7, 8);
        Finds();
    }

    [Fact]
    public void Test_without_a_write_stands_at_the_version_of_the_mutation()
    {
        Put("x", "a", 1, 2, version: 5);
        Write(3, 4, 7, new ObjectAct("x", ObjectActKind.Delete));
        _history.Calls.Add(new ObjectCall("w", "c", ObjectMode.Mutate, 3, 10, ObjectFate.Done)
        {
            Version = 8,
            Tests = [new ObjectTest("x", ObjectTestKind.Exists)],
            Acts = [new ObjectAct("y", ObjectActKind.Put, "b")],
        });
        Finds();
    }

    [Fact]
    public void Object_reads_as_absent_behind_the_expiry()
    {
        Put("x", "a", 1, 2, version: 5, expiry: 10);
        Read("x", 5, "a", 3, 9);
        Read("x", 5, null, 8, 12);
        Read("x", 0, null, 11, 12);
        Read("x", 5, "a", 7, 13);
        Passes();
    }

    [Fact]
    public void Expired_object_is_deleted_as_a_version_that_no_client_wrote()
    {
        Put("x", "a", 1, 2, version: 5, expiry: 10);
        Read("x", 6, null, 8, 12);
        Put("x", "b", 13, 14, version: 7);
        Read("x", 7, "b", 15, 16);
        Passes();
        Read("x", 6, null, 17, 18);
        Finds();
    }

    [Theory]
    [InlineData(5, "a", 10, 11)]
    [InlineData(5, null, 3, 9)]
    [InlineData(0, null, 3, 9)]
    public void Read_against_the_expiry_is_found(long version, string? value, long start, long end)
    {
        Put("x", "a", 1, 2, version: 5, expiry: 10);
        Read("x", version, value, start, end);
        Finds();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(30)]
    public void Object_read_before_the_expiry_is_found(long expiry)
    {
        Put("x", "a", 1, 2, version: 5, expiry: 10);
        Put("x", "b", 3, 4, version: 6, expiry: expiry);
        Read("x", 0, null, 15, 16);
        Finds();
    }

    [Fact]
    public void Touch_changes_the_expiry_and_an_append_keeps_the_old()
    {
        Put("x", "a", 1, 2, version: 5, expiry: 10);
        Write(3, 4, 6, new ObjectAct("x", ObjectActKind.Touch, Expiry: 20));
        Write(12, 13, 7, new ObjectAct("x", ObjectActKind.Append, "b"));
        Read("x", 7, "ab", 14, 15);
        Read("x", 0, null, 20, 21);
        Passes();
        Read("x", 7, "ab", 22, 23);
        Finds();
    }

    [Fact]
    public void Append_to_an_expired_object_is_refused()
    {
        Put("x", "a", 1, 2, version: 5, expiry: 10);
        _history.Calls.Add(new ObjectCall("w", "c", ObjectMode.Mutate, 11, 12, ObjectFate.Mismatch)
        {
            Acts = [new ObjectAct("x", ObjectActKind.Append, "b")],
            From = 11,
            Until = 12,
        });
        Passes();
        Write(13, 14, 6, new ObjectAct("x", ObjectActKind.Append, "b"));
        Finds();
    }

    [Fact]
    public void Search_that_gives_up_is_a_finding()
    {
        Put("x", "a", 1, 2, version: 5);
        for (var i = 0; i < 24; i++) Unknown(3, 4, new ObjectAct("x", ObjectActKind.Append, $",{i}"));
        Read("x", 6, "nothing of that", 5, 6);
        Finds();
    }

    [Fact]
    public void Thousands_of_operations_are_checked_with_unknown_writes_in_between()
    {
        var random = new Random(7);
        var value = "";
        for (var i = 0; i < 4000; i++)
        {
            var at = i * 10;
            if (i % 200 == 7) Unknown(at, at + 1, new ObjectAct("x", ObjectActKind.Put, $"u{i}"));
            if (random.Next(2) == 0) Put("x", value = $"v{i}", at, at + 14, version: 2 * i + 10);
            else if (value.Length > 0) Read("x", LastVersion(), value, at + 5, at + 9);
        }

        Passes();
    }

    private long LastVersion() => _history.Calls.Last(call => call.Version > 0).Version;

    private void Put(string key, string value, long start, long end, long version, long expiry = 0) =>
        Write(start, end, version, new ObjectAct(key, ObjectActKind.Put, value, Expiry: expiry));

    private void Write(long start, long end, long version, ObjectAct act) =>
        _history.Calls.Add(new ObjectCall($"w{_id++}", "c", ObjectMode.Mutate, start, end, ObjectFate.Done)
        {
            Version = version,
            Acts = [act],
            From = start,
            Until = end,
        });

    private void Unknown(long start, long end, ObjectAct act) =>
        _history.Calls.Add(new ObjectCall($"w{_id++}", "c", ObjectMode.Mutate, start, end, ObjectFate.Unknown)
        {
            Acts = [act],
        });

    private void Refuse(long start, long end, long version, ObjectTest test) =>
        _history.Calls.Add(new ObjectCall($"w{_id++}", "c", ObjectMode.Mutate, start, end, ObjectFate.Mismatch)
        {
            Tests = [test],
            Acts = [new ObjectAct(test.Key, ObjectActKind.Put, "refused")],
            FailedVersion = version,
        });

    private void Read(string key, long version, string? value, long start, long end) =>
        _history.Calls.Add(new ObjectCall($"r{_id++}", "c", ObjectMode.Strong, start, end, ObjectFate.Done)
        {
            Seen = [new ObjectSeen(key, version, value)],
            From = start,
            Until = end,
        });

    private void Passes() => Assert.Empty(ObjectLinear.Check(_history));

    private void Finds() =>
        Assert.Contains(ObjectLinear.Check(_history), found => found.Checker == CheckerNames.ObjectLinear);
}
